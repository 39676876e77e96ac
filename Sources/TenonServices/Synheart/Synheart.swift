// SPDX-License-Identifier: Apache-2.0
public import Tenon

/// A Synheart auth service: where it is, and how it is spoken to.
public struct Synheart: Sendable {
    /// The app as the service knows it.
    public let appID: String
    public let dialect: Dialect
    /// Whether the device registers only with a proof that its key is in a TPM.
    public let requiresAttestation: Bool
    let service: ServiceURL

    /// - Parameter baseURL: as `https://api.example.org/auth`; `http` only where the host is this machine.
    /// - Parameter requiresAttestation: false only in a build with the trait `DevMode`; another one has no way to
    ///   register without.
    /// - Throws: ``TenonError/Code/serviceURL``, ``TenonError/Code/appID``.
    public init(
        baseURL: String, appID: String, dialect: Dialect = .docs, requiresAttestation: Bool = true
    ) throws(TenonError) {
        guard appID.isVisible(atMost: 200) else {
            throw TenonError(.appID, message: "An app id has 1 to 200 characters of ASCII without spaces.")
        }
        service = try ServiceURL(baseURL)
        self.appID = appID
        self.dialect = dialect
        self.requiresAttestation = requiresAttestation
    }

    /// Where it is, in the one form in which two that mean the same are equal.
    package var baseURL: String { service.text }

    /// Whether it runs on this very machine, by the name of its host.
    package var isLocal: Bool { (try? HTTPURL(parsing: service.origin))?.isLoopback ?? false }

    /// What the codes of the service mean (docs/synheart.md). `KEY_INVALIDATED` is not here: what a service says of a
    /// key never reaches the key (decision: definite-refusal).
    static let verdicts: [String: ServiceVerdict] = [
        "CHALLENGE_EXPIRED": .challengeSpent, "INVALID_CHALLENGE": .challengeSpent,
        "INVALID_ATTESTATION": .attestationRefused, "ATTESTATION_FAILED": .attestationFailed,
        "REGISTRATION_REJECTED": .rejected, "DEVICE_REVOKED": .revoked,
        "NOT_REGISTERED": .keyRefused, "INVALID_SIGNATURE": .keyRefused,
        "CLOCK_SKEW": .clockSkew, "KEY_EXPIRED": .keyExpired, "NONCE_REPLAY": .nonceReplay,
        "ROTATION_FAILED": .rotationRefused,
    ]
}
