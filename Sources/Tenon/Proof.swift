// SPDX-License-Identifier: Apache-2.0

/// A proof that a key lives in a TPM, as it travels: the TPM attestation statement of WebAuthn (8.3) and of ACME's
/// device-attest-01 in deterministic CBOR.
///
/// A proof that came from somebody is worth nothing until ``verify(_:nonce:policy:)`` accepted it.
public struct Proof: Hashable, Sendable {
    /// The CBOR.
    public let dataRepresentation: [UInt8]

    /// Takes what came; nothing is read yet.
    public init(dataRepresentation: [UInt8]) { self.dataRepresentation = dataRepresentation }

    /// Verifies that the key lives in a TPM whose attestation key the policy trusts, and was certified for this nonce.
    ///
    /// - Parameters:
    ///   - key: the public key that was submitted.
    ///   - nonce: the nonce that this very registration was asked for.
    ///   - policy: what is demanded.
    /// - Throws: the code of the first rule that does not hold: `rule...`, `cbor...`, ``TenonError/Code/proofForm``.
    @discardableResult
    public func verify(
        _ key: PublicKey, nonce: Digest, policy: ProofPolicy
    ) throws(TenonError) -> VerificationReport {
        let report = report(on: key, nonce: nonce, policy: policy)
        try report.check()
        return report
    }
}
