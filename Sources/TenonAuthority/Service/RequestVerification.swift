// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// Whose signature is taken.
package enum AcceptedKey: Sendable {
    /// The device's key, if it is not too old.
    case present
    /// The device's key, or the one before, of whatever age: for what settles a rotation (decision: own-endpoints).
    case presentOrPrevious
}

extension AuthorityService {
    /// Verifies a request, in the order of the steps below, and remembers it: it is good once.
    ///
    /// - Throws: what to answer.
    package func verify(
        _ request: DeviceRequest, accepting accepted: AcceptedKey = .present
    ) async throws(Refusal) -> VerifiedRequest {
        let headers = request.headers
        guard let app = configuration.app(headers.appID) else { throw .unknownDevice }
        try checkQuery(request, app)
        let device = try await waiting { () throws(TenonError) in
            try await stores.devices.device(app: headers.appID, id: headers.deviceID)
        }
        guard let device else { throw .unknownDevice }
        return try await verify(request, of: device, app, accepting: accepted)
    }

    /// The same where the device is known.
    func verify(
        _ request: DeviceRequest, of device: Device, _ app: AppRecord, accepting accepted: AcceptedKey
    ) async throws(Refusal) -> VerifiedRequest {
        let (headers, now) = (request.headers, clock.now().seconds)
        try checkState(device, app, accepted, at: now)
        let window = MemoryReplayStore.window
        guard now - window...now + window ~= headers.timestamp else {
            throw Refusal(.clockSkew, "The timestamp is more than 300 seconds from the service's time.")
        }
        let digest = try request.digest()
        let key = try await signer(of: digest, headers.signature, device, accepted)
        try await remember(headers, key, device)
        return VerifiedRequest(device: device, key: key, headers: headers)
    }

    private func checkQuery(_ request: DeviceRequest, _ app: AppRecord) throws(Refusal) {
        let isRefused =
            switch app.version1Query {
            case .refuse: true
            case .refuseWrites: request.mayChangeSomething
            case .allow: false
            }
        if request.hasQuery && isRefused {
            throw Refusal(
                .invalidRequest, "A query is not signed in version 1, and is not taken here.", cause: "query")
        }
    }

    private func checkState(
        _ device: Device, _ app: AppRecord, _ accepted: AcceptedKey, at now: Int64
    ) throws(Refusal) {
        if let refusal = Refusal(of: device) { throw refusal }
        guard device.signatureVersions.contains(1) else {
            throw Refusal(.invalidRequest, "The device does not sign with version 1.")
        }
        let age = now - (device.keyRotatedAt ?? device.registeredAt)
        if accepted == .present, let days = app.maxKeyAgeDays, age > Int64(days) * 86_400 {
            throw Refusal(.keyExpired, "The key is older than the app's keys may be: rotate it.")
        }
    }

    /// The key that made the signature. A former one that did, where no such is taken, is an alarm
    /// (decision: copied-key).
    private func signer(
        of digest: Digest, _ signature: Signature, _ device: Device, _ accepted: AcceptedKey
    ) async throws(Refusal) -> PublicKey {
        if device.publicKey.isValidSignature(signature, for: digest) { return device.publicKey }
        let former = try await waiting { () throws(TenonError) in
            try await stores.devices.retiredKeys(ofDevice: device.id, limit: 2)
        }
        let wrong = Refusal(.invalidSignature, "The signature is not the device's.")
        guard let index = former.firstIndex(where: { $0.publicKey.isValidSignature(signature, for: digest) }) else {
            throw wrong
        }
        let key = former[index].publicKey
        if accepted == .presentOrPrevious && index == 0 { return key }
        try await alarm(key)
        throw wrong
    }

    func alarm(_ key: PublicKey) async throws(Refusal) {
        let now = clock.now()
        let use = try await waiting { () throws(TenonError) in
            try await stores.devices.retiredKeyUsed(key, at: now)
        }
        if case .alarm = use { metrics.countRetiredKey() }
    }

    /// After the signature: else anybody could spend a nonce (docs/synheart.md, decision: one-use).
    private func remember(_ headers: SignedHeaders, _ key: PublicKey, _ device: Device) async throws(Refusal) {
        let outcome = try await waiting { () throws(TenonError) in
            let thumbprint = key == device.publicKey ? device.thumbprint : try key.thumbprint
            let use = SignedUse(
                deviceID: device.id, nonce: headers.nonce, thumbprint: thumbprint, signature: headers.signature,
                timestamp: headers.timestamp)
            return try await stores.replays.remember(use)
        }
        switch outcome {
        case .fresh: return
        case .replay: throw Refusal(.nonceReplay, "The request was made before.")
        case .tooMany: throw Refusal(.rateLimited, "The device made too many requests.", retryAfter: 60)
        case .mayBeForgotten:
            throw Refusal(.clockSkew, "The request may have been made before the service was started: sign it again.")
        }
    }
}

extension Refusal {
    /// Of a device whose requests are not taken; nil for one whose are.
    init?(of device: Device) {
        switch device.state {
        case .active: return nil
        case .pending:
            self.init(.notRegistered, "An operator has not decided about the device.", cause: "pending")
        case .rejected: self.init(.notRegistered, "An operator decided against the device.", cause: "rejected")
        case .revoked: self = .deviceRevoked
        }
    }

    static let unknownDevice = Refusal(.notRegistered, "The device is not registered.")
    static let deviceRevoked = Refusal(.deviceRevoked, "The device was revoked.")
}
