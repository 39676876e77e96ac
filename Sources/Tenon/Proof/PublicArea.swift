// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// The TPM's description of a P-256 key that it holds: its TPMT_PUBLIC (TPM 2.0 Part 2, 12.2.4), as the TPM wrote it.
///
/// The form is checked, and that the point is on the curve, but not whether the key has the right attributes.
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

extension PublicArea {
    /// Reads what a TPM wrote.
    ///
    /// - Throws: ``TenonError/Code/keyPublic`` for anything but a P-256 key with a SHA-256 Name, and for bytes after
    ///   its end; ``TenonError/Code/pointRange``, ``TenonError/Code/pointOffCurve``.
    public init(dataRepresentation: [UInt8]) throws(TenonError) {
        var key = tenon_public_key()
        try TenonError.check(tenon_object_public_key(&key, dataRepresentation.span))
        let name = try bytes(capacity: TENON_NAME_SIZE) { buffer, written in
            dataRepresentation.withUnsafeBufferPointer {
                tenon_object_name(buffer.baseAddress, buffer.count, &written, $0.baseAddress, $0.count)
            }
        }
        self.init(checked: dataRepresentation, name: name, publicKey: PublicKey(core: key))
    }

    /// Checks, before a service accepts the key, that it signs only its TPM's own statements, like an attestation key.
    ///
    /// - Throws: ``TenonError/Code/rule29AK``.
    public func verifyIsAttestationKey() throws(TenonError) {
        try TenonError.check(tenon_ak_check(nil, dataRepresentation.span))
    }
}
