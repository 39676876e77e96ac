// SPDX-License-Identifier: Apache-2.0
public import Tenon

// A credential of another endorsement key, attestation key or challenge is refused by the TPM: the error's category is
// `rejected`, and it says nothing about the signing key.
extension TPM.AttestationKey {
    /// Opens a credential that was made for this key, and gives the value that answers its challenge. The secret does
    /// not leave the core.
    ///
    /// - Parameters:
    ///   - activation: what is bound.
    ///   - credential: what came with the challenge.
    ///   - certificate: that of the endorsement key for which it was made, DER.
    /// - Throws: ``TenonError/Code/credentialForm``, ``TenonError/Code/rule22Certificate``,
    ///   ``TenonError/Code/rule36EKKey``, ``TenonError/Code/ekMissing`` when this TPM has no such key.
    public func activate(
        _ activation: Activation, with credential: Credential, certificate: [UInt8]
    ) throws(TenonError) -> Digest {
        try tpm.using { () throws(TenonError) in try loaded.activate(activation, credential, certificate) }
    }

    /// Opens a credential that was made for this key, and gives the value that answers its challenge. The secret does
    /// not leave the core.
    public func activate(
        _ activation: Activation, with credential: Credential, certificate: [UInt8]
    ) async throws(TenonError) -> Digest {
        try await tpm.run { () throws(TenonError) in
            try loaded.activate(activation, credential, certificate)
        }
    }

    /// Opens a credential to the secret itself, for the protocol of attestation CAs, which sends it: never show one key
    /// to two of them.
    ///
    /// - Parameters:
    ///   - credential: what the CA made.
    ///   - certificate: that of the endorsement key for which it was made, DER.
    /// - Throws: as ``activate(_:with:certificate:)``.
    public func secret(of credential: Credential, certificate: [UInt8]) throws(TenonError) -> Secret {
        try tpm.using { () throws(TenonError) in try loaded.secret(credential, certificate) }
    }

    /// Opens a credential to the secret itself, for the protocol of attestation CAs, which sends it: never show one key
    /// to two of them.
    public func secret(of credential: Credential, certificate: [UInt8]) async throws(TenonError) -> Secret {
        try await tpm.run { () throws(TenonError) in try loaded.secret(credential, certificate) }
    }
}
