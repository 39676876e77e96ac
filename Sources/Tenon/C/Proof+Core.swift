// SPDX-License-Identifier: Apache-2.0
internal import CTenon

extension Proof {
    /// Encodes. One evidence has one encoding.
    ///
    /// - Throws: ``TenonError/Code/tooLarge`` when a part is larger than a proof may hold.
    public init(_ evidence: Evidence) throws(TenonError) {
        self.init(
            dataRepresentation: try bytes(capacity: TENON_PROOF_MAX) { buffer, written in
                evidence.withCore { tenon_proof_encode(buffer.baseAddress, buffer.count, &written, $0) }
            })
    }

    /// Decodes, and verifies nothing.
    ///
    /// - Throws: ``TenonError/Code/tooLarge``, ``TenonError/Code/proofForm``, or the code `cbor...` of the first departure
    ///   from deterministic CBOR.
    public func evidence() throws(TenonError) -> Evidence {
        var core = tenon_evidence()
        var evidence: Evidence?
        let status = dataRepresentation.withUnsafeBufferPointer { proof in
            let status = tenon_proof_decode(&core, proof.baseAddress, proof.count)
            if status == 0 { evidence = Evidence(core: core) }
            return status
        }
        try TenonError.check(status)
        guard let evidence else { throw TenonError(status: tenon_status(TENON_ERROR_NULL)) }
        return evidence
    }

    /// Verifies as ``verify(_:nonce:policy:)``, and says of a proof that is refused, too, what was checked: for people
    /// and logs. Accepted is what its ``VerificationReport/verdict-swift.property`` says.
    public func report(on key: PublicKey, nonce: Digest, policy: ProofPolicy) -> VerificationReport {
        VerificationReport { report in
            policy.withCore { policy in
                dataRepresentation.withUnsafeBufferPointer { proof in
                    withUnsafePointer(to: nonce.core) { nonce in
                        withUnsafePointer(to: key.core) {
                            tenon_proof_verify(&report, proof.baseAddress, proof.count, nonce, $0, policy)
                        }
                    }
                }
            }
        }
    }
}
