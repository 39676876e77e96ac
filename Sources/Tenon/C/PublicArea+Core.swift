// SPDX-License-Identifier: Apache-2.0
internal import CTenon

extension PublicArea {
    /// Takes what a TPM wrote.
    ///
    /// - Throws: ``TenonError/Code/keyPublic`` for what is not a P-256 key with a Name of SHA-256, or has bytes behind
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

    /// Checks that the key signs nothing but what its TPM says, as an attestation key does: before a service takes it.
    ///
    /// - Throws: ``TenonError/Code/rule29AK``.
    public func verifyIsAttestationKey() throws(TenonError) {
        try TenonError.check(tenon_ak_check(nil, dataRepresentation.span))
    }
}
