// SPDX-License-Identifier: Apache-2.0

/// A proof that was asked for, and what it is about.
public struct IdentityAttestation: Sendable {
    public let proof: Proof
    /// The key that the proof is about: the one that signs.
    public let publicKey: PublicKey
    /// The key that made it. Whoever verifies has to know it from elsewhere: by what it says of itself nobody is
    /// trusted.
    public let attestationKey: PublicArea
}

extension DeviceIdentity {
    /// Has the TPM say, to somebody who gave a nonce, that the key of this identity lives in it. Nothing is sent.
    ///
    /// No certificate goes with it: that of the attestation key is shown to its issuer only (decision: own-ak).
    ///
    /// - Throws: ``TenonError/Code/notRegistered`` and what else stands against signing;
    ///   ``TenonError/Code/attestationUnavailable`` for an identity without an attestation key.
    public func attest(nonce: Digest) async throws(TenonError) -> IdentityAttestation {
        let key = try await signingKey().key
        let facts = try await context.disk.run { () throws(TenonError) in try self.record()?.attestationKey?.facts }
        guard let ak = facts else { throw .noAttestationKey }
        let publicKey = try await context.vault.key(key.facts).publicKey
        let area = try await context.vault.publicArea(ofAttestationKey: ak)
        let proof = try await context.vault.proof(
            of: key.facts, by: ak, qualifyingData: nonce.rawRepresentation, certificates: [])
        return IdentityAttestation(proof: proof, publicKey: publicKey, attestationKey: area)
    }
}

extension TenonError {
    fileprivate static let noAttestationKey = TenonError(
        .attestationUnavailable, message: "This identity has no attestation key: it was registered without one.")
}
