// SPDX-License-Identifier: Apache-2.0

/// What a TPM says of a P-256 key that it holds: its TPMT_PUBLIC (TPM 2.0 Part 2, 12.2.4), as the TPM wrote it.
///
/// The form is checked, and that the point is on the curve; whether the key is what it should be is not.
public struct PublicArea: Sendable {
    /// The bytes as the TPM wrote them.
    public let dataRepresentation: [UInt8]
    /// The TPM's Name of the key: 000b, then the SHA-256 of the area; 34 bytes.
    public let name: [UInt8]
    /// The key itself.
    public let publicKey: PublicKey

    /// For what was checked.
    init(checked dataRepresentation: [UInt8], name: [UInt8], publicKey: PublicKey) {
        self.dataRepresentation = dataRepresentation
        self.name = name
        self.publicKey = publicKey
    }
}

extension PublicArea: Hashable {
    public static func == (left: PublicArea, right: PublicArea) -> Bool {
        left.dataRepresentation == right.dataRepresentation
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(dataRepresentation) }
}
