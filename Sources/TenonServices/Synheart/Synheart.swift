// SPDX-License-Identifier: Apache-2.0
public import Tenon

/// A Synheart auth service: its URL, the app, and the dialect.
public struct Synheart: Sendable {
    /// The app's id at the service.
    public let appID: String
    /// The version of the wire.
    public let dialect: Dialect
    /// Whether the device registers only with a proof that its key is in a TPM.
    public let requiresAttestation: Bool
    let service: ServiceURL
    /// The versions of request signing that the device offers; no others than the dialect's.
    package var signatureVersions: [Int64]

    /// Describes a service; nothing is sent.
    ///
    /// - Parameters:
    ///   - baseURL: for example `https://api.example.org/auth`; `http` only when the host is this machine.
    ///   - appID: 1 to 200 visible characters of ASCII.
    ///   - dialect: the version of the wire.
    ///   - requiresAttestation: false has an effect only in a build with the trait `DevMode`.
    /// - Throws: ``TenonError/Code/serviceURL``, ``TenonError/Code/appID``.
    public init(
        baseURL: String, appID: String, dialect: Dialect = .docs, requiresAttestation: Bool = true
    ) throws(TenonError) {
        guard appID.isVisible(atMost: 200) else {
            throw TenonError(.appID, message: "An app id must have 1 to 200 ASCII characters without spaces.")
        }
        service = try ServiceURL(baseURL)
        self.appID = appID
        self.dialect = dialect
        signatureVersions = dialect.signatureVersions
        self.requiresAttestation = requiresAttestation
    }

    /// The base URL in a normal form: two URLs of the same service are equal.
    package var baseURL: String { service.text }

    /// Whether the service's host is this machine.
    package var isLocal: Bool { (try? HTTPURL(parsing: service.origin))?.isLoopback ?? false }

    /// The meaning of the service's codes (docs/synheart.md). `KEY_INVALIDATED` is missing on purpose: no answer of a
    /// service destroys a key (decision: definite-refusal).
    static let verdicts: [String: ServiceVerdict] = [
        "CHALLENGE_EXPIRED": .challengeSpent, "INVALID_CHALLENGE": .challengeSpent,
        "INVALID_ATTESTATION": .attestationRefused, "ATTESTATION_FAILED": .attestationFailed,
        "REGISTRATION_REJECTED": .rejected, "DEVICE_REVOKED": .revoked,
        "NOT_REGISTERED": .keyRefused, "INVALID_SIGNATURE": .keyRefused,
        "CLOCK_SKEW": .clockSkew, "KEY_EXPIRED": .keyExpired, "NONCE_REPLAY": .nonceReplay,
        "ROTATION_FAILED": .rotationRefused, "SIGNATURE_FORM": .formRefused,
    ]
}

/// A version of the service's wire. It is a value, so that no flow must ask which one it is.
public struct Dialect: Hashable, Sendable {
    /// The name that the record keeps.
    public let name: String
    /// How a device proves that its key is in a TPM, and how an open rotation is settled.
    let attestation: AttestationRule
    let rotation: RotationRule
    let settlements: [Settlement]
    /// The versions of request signing that it offers.
    let signatureVersions: [Int64]

    /// Exactly the documented fields. The proof carries the attestation key's certificate, which an attestation CA made.
    public static let docs = Self(
        name: "docs", attestation: .certificate, rotation: .signedByCurrent(isProven: false),
        settlements: [.resend, .selfRotation], signatureVersions: [1])
    /// `docs`, with the attestation key activated in the same two exchanges, and rotations that carry a proof
    /// (decision: attested-rotation). A device signs requests by version 1 and, for the hosts that the service names, by
    /// version 2.
    public static let tenon = Self(
        name: "tenon", attestation: .activation, rotation: .signedByCurrent(isProven: true),
        settlements: [.ask, .resend], signatureVersions: [1, 2])

    /// All dialects; the first is the default.
    package static let all = [docs, tenon]

    /// The dialect that a record names.
    package static func named(_ name: String) -> Dialect? { all.first { $0.name == name } }

    public static func == (left: Dialect, right: Dialect) -> Bool { left.name == right.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// What a build with the trait `DevMode` adds. No other build contains any of it (W20).
package enum DevMode {
    #if DevMode
        /// The headers of each request, including those of applications: a backend must be able to tell them apart.
        package static let headers = [(name: "X-Synheart-Dev-Mode", value: "true")]
        static let noProof: String? = "none"
    #else
        package static let headers: [(name: String, value: String)] = []
        static let noProof: String? = nil
    #endif
}
