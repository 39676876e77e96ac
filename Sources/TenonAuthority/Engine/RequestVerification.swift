// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A device's request as its service has read it.
package struct DeviceRequest: Sendable {
    package var app: String
    package var device: String
    package var signature: Signature
    /// The signature version, which must be one that the device registered.
    package var version: Int
    /// Unix seconds.
    package var timestamp: Int64
    /// A UUID.
    package var nonce: String
    /// Computes what the key signed; called after the cheaper checks.
    package var digest: @Sendable () throws(Refusal) -> Digest

    package init(
        app: String, device: String, signature: Signature, version: Int, timestamp: Int64, nonce: String,
        digest: @escaping @Sendable () throws(Refusal) -> Digest
    ) {
        self.app = app
        self.device = device
        self.signature = signature
        self.version = version
        self.timestamp = timestamp
        self.nonce = nonce
        self.digest = digest
    }
}

/// A verified request that was not seen before.
package struct VerifiedRequest: Sendable {
    package let device: Device
    /// The key that signed: the device's present key, or the previous one if the caller accepts that.
    package let key: PublicKey
}

/// Which keys may have signed a request.
package enum AcceptedKey: Sendable {
    /// The device's key, if it is not too old.
    case present
    /// The device's key or the previous one, whatever its age, for requests that settle a rotation (decision:
    /// own-endpoints).
    case presentOrPrevious
}

extension AuthorityEngine {
    /// Verifies a request, in the order of the steps below, and remembers it, because it is valid only once.
    ///
    /// - Throws: the refusal to answer.
    package func verify(
        _ request: DeviceRequest, accepting accepted: AcceptedKey = .present
    ) async throws(Refusal) -> VerifiedRequest {
        guard let app = configuration.app(request.app) else { throw .unknownDevice }
        let device = try await waiting { () throws(TenonError) in
            try await stores.devices.device(app: request.app, id: request.device)
        }
        guard let device else { throw .unknownDevice }
        return try await verify(request, of: device, app, accepting: accepted)
    }

    /// Does the same for a device that was already found.
    func verify(
        _ request: DeviceRequest, of device: Device, _ app: AppRecord, accepting accepted: AcceptedKey
    ) async throws(Refusal) -> VerifiedRequest {
        let now = clock.now().seconds
        if let refusal = Refusal(of: device) { throw refusal }
        guard device.signatureVersions.contains(request.version) else {
            throw Refusal(.invalidRequest, "The device does not sign with version \(request.version).")
        }
        try checkAge(of: device, app, accepted, at: now)
        let window = MemoryReplayStore.window
        guard now - window...now + window ~= request.timestamp else {
            throw Refusal(.clockSkew, "The timestamp differs from the service's time by more than 300 seconds.")
        }
        let digest = try request.digest()
        let key = try await signer(of: digest, request.signature, device, accepted)
        try await remember(request, key, device)
        return VerifiedRequest(device: device, key: key)
    }

    func checkAge(
        of device: Device, _ app: AppRecord, _ accepted: AcceptedKey, at now: Int64
    ) throws(Refusal) {
        let age = now - (device.keyRotatedAt ?? device.registeredAt)
        if accepted == .present, let days = app.maxKeyAgeDays, age > Int64(days) * 86_400 {
            throw Refusal(.keyExpired, "The key is older than the app allows. Rotate it.")
        }
    }

    /// The key that made the signature. A signature by a former key that is not accepted raises an alarm (decision:
    /// copied-key).
    private func signer(
        of digest: Digest, _ signature: Signature, _ device: Device, _ accepted: AcceptedKey
    ) async throws(Refusal) -> PublicKey {
        if device.publicKey.isValidSignature(signature, for: digest) { return device.publicKey }
        let former = try await waiting { () throws(TenonError) in
            try await stores.devices.retiredKeys(ofDevice: device.id, limit: 2)
        }
        let wrong = Refusal(.invalidSignature, "The signature was not made by the device's key.")
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

    private func remember(_ request: DeviceRequest, _ key: PublicKey, _ device: Device) async throws(Refusal) {
        let thumbprint = try refusing { () throws(TenonError) in
            key == device.publicKey ? device.thumbprint : try key.thumbprint
        }
        try await remember(
            SignedUse(
                deviceID: device.id, nonce: request.nonce, thumbprint: thumbprint, signature: request.signature,
                timestamp: request.timestamp))
    }

    /// Remembered only after the signature was verified; otherwise anybody could spend a nonce (decision: one-use).
    func remember(_ use: SignedUse) async throws(Refusal) {
        let outcome = try await waiting { () throws(TenonError) in try await stores.replays.remember(use) }
        switch outcome {
        case .fresh: return
        case .replay: throw Refusal(.nonceReplay, "The request was already received.")
        case .tooMany: throw Refusal(.rateLimited, "The device made too many requests.", retryAfter: 60)
        case .mayBeForgotten:
            // Even a request that is signed now may lie within the span that a store recorded ahead (decision:
            // forgetful-stores).
            throw Refusal(
                .clockSkew, "The request may be from before the service started. Sign it again.",
                retryAfter: SignedUse.lead + 1)
        }
    }
}

extension Refusal {
    /// The refusal for a device whose requests are not accepted; nil for an active device.
    package init?(of device: Device) {
        switch device.state {
        case .active: return nil
        case .pending:
            self.init(.notRegistered, "An operator has not decided about the device.", cause: "pending")
        case .rejected: self.init(.notRegistered, "An operator rejected the device.", cause: "rejected")
        case .revoked: self = .deviceRevoked
        }
    }

    /// The device does not exist.
    package static let unknownDevice = Refusal(.notRegistered, "The device is not registered.")
    static let deviceRevoked = Refusal(.deviceRevoked, "The device was revoked.")
}
