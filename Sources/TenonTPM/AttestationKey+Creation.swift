// SPDX-License-Identifier: Apache-2.0
internal import CTenonTPM
public import Tenon

// The ticket for it is kept while the key that was made is in memory: TPM 2.0 Part 3, 18.3.
extension TPM.AttestationKey {
    /// How the key was made, said by itself (`TPM2_CertifyCreation`), for attestation CAs that want it in an
    /// ``AttestRequest``.
    ///
    /// - Throws: ``TenonError/Code/notMadeHere`` when the key was loaded: ask before the process that made it ends.
    public func creation() throws(TenonError) -> AttestRequest.Creation {
        try tpm.using { () throws(TenonError) in try loaded.creation() }
    }

    /// How the key was made, said by itself (`TPM2_CertifyCreation`), for attestation CAs that want it in an
    /// ``AttestRequest``.
    public func creation() async throws(TenonError) -> AttestRequest.Creation {
        try await tpm.run { () throws(TenonError) in try loaded.creation() }
    }
}

extension LoadedAttestationKey {
    fileprivate func creation() throws(TenonError) -> AttestRequest.Creation {
        var core = tenon_tpm_creation()
        try TenonError.check(tenon_tpm_ak_creation(object.pointer, &core))
        return AttestRequest.Creation(
            data: withUnsafeBytes(of: core.data) { Array($0.prefix(core.data_n)) },
            attestation: withUnsafeBytes(of: core.statement) { Array($0.prefix(core.statement_n)) },
            signature: withUnsafeBytes(of: core.signature) { Array($0.prefix(core.signature_n)) })
    }
}
