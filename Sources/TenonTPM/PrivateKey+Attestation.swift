// SPDX-License-Identifier: Apache-2.0
public import Tenon

extension TPM.PrivateKey: DigestSigner {}

extension TPM.PrivateKey {
    /// Has the TPM say that it holds this key, signed by an attestation key. One command while both are loaded.
    ///
    /// - Parameters:
    ///   - ak: an attestation key of the same ``TPM``, else ``TenonError/Code/options``.
    ///   - data: the nonce of the service, at most 32 bytes.
    ///   - certificates: the attestation key's certificate and those above it, leaf first, at most 4.
    /// - Throws: ``TenonError/Code/tooLarge`` before the TPM is asked.
    public func attest(
        by ak: TPM.AttestationKey, qualifyingData data: [UInt8], certificates: [[UInt8]] = []
    ) throws(TenonError) -> Proof {
        try tpm.using { () throws(TenonError) in try ak.loaded.attest(loaded.object, data, certificates) }
    }

    /// Has the TPM say that it holds this key, signed by an attestation key. One command while both are loaded.
    public func attest(
        by ak: TPM.AttestationKey, qualifyingData data: [UInt8], certificates: [[UInt8]] = []
    ) async throws(TenonError) -> Proof {
        try await tpm.run { () throws(TenonError) in
            try ak.loaded.attest(loaded.object, data, certificates)
        }
    }

    /// What the TPM says of the key, with which ``name`` is made.
    public var publicArea: PublicArea {
        get throws(TenonError) { try loaded.object.publicArea }
    }
}
