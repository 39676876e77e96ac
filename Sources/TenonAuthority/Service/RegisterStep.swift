// SPDX-License-Identifier: Apache-2.0
internal import Tenon

extension AuthorityService {
    /// In exactly this order (decision: folded-activation).
    func register(_ request: AuthorityRequest) async throws(Refusal) -> AuthorityAnswer {
        let object = try request.message()
        let message = try refusing(Refusal.init(form:)) { () throws(TenonError) in try RegisterMessage(object) }
        let app = try app(message.appID)
        let challenge = try digest(of: message.challenge)
        let entry = try await taken(challenge, message.challenge, for: app, at: try origin(of: request))
        let key = try PublicKey(sent: message.keyText)
        let vouched = try await vouch(message, entry, key, app, isDevelopment: try isDevelopment(request))
        let now = clock.now()
        let registration = DeviceRegistration(
            device: try device(key, vouched, message, app, at: now), challenge: challenge,
            certificate: vouched.certificate, maxDevicesPerEK: vouched.attestation.map { _ in app.maxDevicesPerEK },
            maxPending: app.maxPending)
        let outcome = try await waiting { () throws(TenonError) in
            try await stores.devices.register(registration, at: now)
        }
        switch outcome {
        case .registered(let device), .known(let device): return try await registered(device, vouched)
        case .refused(let refusal): throw Refusal(refusal)
        }
    }

    /// Whatever comes of it, the challenge is spent.
    private func taken(
        _ challenge: Digest, _ text: String, for app: AppRecord, at origin: String
    ) async throws(Refusal) -> ChallengeEntry {
        let entry = try await waiting { () throws(TenonError) in
            try await stores.challenges.take(.registration, under: challenge)
        }
        if entry == nil, try isExpired(text) { throw .challengeExpired }
        guard let entry, entry.app == app.id, entry.origin == origin else { throw .challenge }
        return entry
    }

    /// Whether it was a challenge of ours, too long ago, whatever became of it.
    private func isExpired(_ text: String) throws(Refusal) -> Bool {
        let made = try refusing { () throws(TenonError) in try ChallengeText.time(of: text, key: keys.activation) }
        guard let made else { return false }
        return clock.now().seconds - made >= Self.challengeLife
    }

    private func isDevelopment(_ request: AuthorityRequest) throws(Refusal) -> Bool {
        try request.header("X-Synheart-Dev-Mode").map { $0.lowercased() == "true" } ?? false
    }

    private func device(
        _ key: PublicKey, _ vouched: Vouched, _ message: RegisterMessage, _ app: AppRecord,
        at now: AuthorityInstant
    ) throws(Refusal) -> Device {
        try refusing { () throws(TenonError) in
            Device(
                id: try RequestHeaders.makeNonce(), app: message.appID,
                state: app.registration == .approve ? .pending : .active, level: vouched.level, publicKey: key,
                thumbprint: try key.thumbprint, attestation: vouched.attestation, akSerial: vouched.serial,
                platform: message.platform, localID: message.localID, registeredAt: now.seconds)
        }
    }

    private func registered(_ device: Device, _ vouched: Vouched) async throws(Refusal) -> AuthorityAnswer {
        let isActive = device.state == .active
        // Until an operator has said yes there is nothing of ours to show.
        let chain = isActive ? try await vouched.issue?(self) : nil
        return try AuthorityAnswer([
            "device_id": .string(device.id), "status": isActive ? "registered" : "pending",
            "registered_at": .integer(device.registeredAt),
            "ak_certificate": chain.map { .array($0.map(JSON.bytes)) },
        ])
    }
}

extension Refusal {
    static let challenge = Refusal(
        .invalidChallenge, "The challenge is not good any more, or is not this app's: ask for another.")
    fileprivate static let challengeExpired = Refusal(
        .challengeExpired, "The challenge was redeemed too late: ask for another.")

    fileprivate init(_ refusal: DeviceRegistration.Refusal) {
        switch refusal {
        case .ekDenied: self = .ekDenied
        case .challengeSpent: self = .challenge
        case .revoked: self = .deviceRevoked
        case .rejected:
            self.init(.registrationRejected, "An operator decided against this device.", cause: "rejected")
        case .keyRetired:
            self.init(.registrationRejected, "The key was replaced by another.", cause: "key_retired")
        case .keyInUse: self.init(.registrationRejected, "The key is in use already.", cause: "key_in_use")
        case .tooManyDevices:
            self.init(
                .registrationRejected, "The TPM has as many devices as it may have.", cause: "too_many_devices")
        case .tooManyPending:
            self.init(
                .unavailable, "As many devices as may wait for approval do: try again later.", retryAfter: 60,
                cause: "too_many_pending")
        case .certificate: self = .certificate
        }
    }
}
