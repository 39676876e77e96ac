// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// A version of the service's wire. A value, so that no flow asks which one it is.
public struct Dialect: Hashable, Sendable {
    /// What the record keeps.
    public let name: String
    /// What says that the key is in a TPM, and how an open rotation is settled.
    let attestation: AttestationRule
    let rotation: RotationRule
    let settlements: [Settlement]

    /// Exactly the documented fields. The proof carries the attestation key's certificate, of an attestation CA.
    public static let docs = Self(
        name: "docs", attestation: .certificate, rotation: .signedByCurrent(isProven: false),
        settlements: [.resend, .selfRotation])
    /// `docs`, with the attestation key activated in the same two exchanges, and rotations that carry a proof
    /// (decision: attested-rotation).
    public static let tenon = Self(
        name: "tenon", attestation: .activation, rotation: .signedByCurrent(isProven: true),
        settlements: [.ask, .resend])

    /// The one that a record names.
    package static func named(_ name: String) -> Dialect? { [docs, tenon].first { $0.name == name } }

    public static func == (left: Dialect, right: Dialect) -> Bool { left.name == right.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
