// SPDX-License-Identifier: Apache-2.0
package import Tenon

extension AuthorityEngine {
    /// Takes the challenge of a registration. It is spent, whatever the result.
    ///
    /// - Throws: ``Refusal/Code/challengeExpired`` for a challenge of ours that is too old,
    ///   ``Refusal/Code/invalidChallenge``.
    package func redeem(
        _ challenge: String, for app: AppRecord, at origin: String
    ) async throws(Refusal) -> ChallengeEntry {
        let digest = try digest(of: challenge)
        let entry = try await waiting { () throws(TenonError) in
            try await stores.challenges.take(.registration, under: digest)
        }
        if entry == nil, try isExpired(challenge) { throw .challengeExpired }
        guard let entry, entry.app == app.id, entry.origin == origin else { throw .challenge }
        return entry
    }

    /// Whether this authority issued the challenge and it has expired.
    private func isExpired(_ text: String) throws(Refusal) -> Bool {
        let made = try refusing { () throws(TenonError) in try ChallengeText.time(of: text, key: keys.activation) }
        guard let made else { return false }
        return clock.now().seconds - made >= Self.challengeLife
    }

    /// Stores a device whose key was verified, or finds the device that already has the key.
    ///
    /// - Parameters:
    ///   - challenge: the challenge that was redeemed; nil if the service has none.
    ///   - id: the id that the device has at its service; nil draws one.
    ///   - alongside: stores the service's own data of the device, in the same transaction.
    package func register(
        _ key: PublicKey, _ assurance: KeyAssurance, for app: AppRecord, redeeming challenge: String?,
        id: String? = nil, platform: String?, localID: String?, signatureVersions: [Int] = [1],
        alongside: DeviceRegistration.Step? = nil
    ) async throws(Refusal) -> Device {
        let now = clock.now()
        let digest: Digest? = if let challenge { try digest(of: challenge) } else { nil }
        let device = try refusing { () throws(TenonError) in
            let name = if let id { id } else { try RequestHeaders.makeNonce() }
            return Device(
                id: name, app: app.id,
                state: app.registration == .approve ? .pending : .active, level: assurance.level, publicKey: key,
                thumbprint: try key.thumbprint, attestation: assurance.attestation, akSerial: assurance.serial,
                signatureVersions: signatureVersions, platform: platform, localID: localID, registeredAt: now.seconds)
        }
        var registration = DeviceRegistration(
            device: device, challenge: digest, certificate: assurance.certificate,
            maxDevicesPerEK: assurance.attestation.map { _ in app.maxDevicesPerEK }, maxPending: app.maxPending)
        registration.hasGivenID = id != nil
        registration.alongside = alongside
        let wanted = registration
        let outcome = try await waiting { () throws(TenonError) in try await stores.devices.register(wanted, at: now) }
        switch outcome {
        case .registered(let device), .known(let device): return device
        case .refused(let refusal): throw Refusal(refusal)
        }
    }
}

extension Refusal {
    static let challenge = Refusal(
        .invalidChallenge, "The challenge is no longer valid, or belongs to another app. Ask for another.")
    fileprivate static let challengeExpired = Refusal(
        .challengeExpired, "The challenge was redeemed too late. Ask for another.")

    fileprivate init(_ refusal: DeviceRegistration.Refusal) {
        switch refusal {
        case .ekDenied: self = .ekDenied
        case .challengeSpent: self = .challenge
        case .revoked: self = .deviceRevoked
        case .rejected:
            self.init(.registrationRejected, "An operator rejected this device.", cause: "rejected")
        case .keyRetired:
            self.init(.registrationRejected, "The key was replaced by another.", cause: "key_retired")
        case .keyInUse: self.init(.registrationRejected, "The key is already in use.", cause: "key_in_use")
        case .idInUse: self.init(.registrationRejected, "The id belongs to another key.", cause: "id_in_use")
        case .tooManyDevices:
            self.init(
                .registrationRejected, "The TPM already has the maximum number of devices.", cause: "too_many_devices")
        case .tooManyPending:
            self.init(
                .unavailable, "Too many devices are waiting for approval. Try again later.", retryAfter: 60,
                cause: "too_many_pending")
        case .certificate: self = .certificate
        }
    }
}
