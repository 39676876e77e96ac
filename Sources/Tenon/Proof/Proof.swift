// SPDX-License-Identifier: Apache-2.0
internal import CTenon

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

    /// Verifies like ``verify(_:nonce:policy:)``, and reports what was checked, even for a refused proof, for people
    /// and logs. ``VerificationReport/verdict-swift.property`` says whether the proof is accepted.
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

/// The content of a ``Proof``. It is not verified: ``Proof/verify(_:nonce:policy:)`` does that.
public struct Evidence: Hashable, Sendable {
    /// The key's public area, TPMT_PUBLIC. Of a proof that was accepted it is a ``PublicArea``.
    public var publicArea: [UInt8]
    /// The TPM's statement about the key, TPMS_ATTEST.
    public var certified: [UInt8]
    /// The attestation key's signature over it, TPMT_SIGNATURE; for some verifiers its DER form.
    public var signature: [UInt8]
    /// The attestation key's certificate and those above it, leaf first; none when the key is known otherwise.
    public var certificates: [[UInt8]]

    /// Takes the parts of a proof.
    public init(publicArea: [UInt8], certified: [UInt8], signature: [UInt8], certificates: [[UInt8]] = []) {
        self.publicArea = publicArea
        self.certified = certified
        self.signature = signature
        self.certificates = certificates
    }
}

extension Evidence {
    /// The signature out of either form.
    ///
    /// - Throws: ``TenonError/Code/signatureForm`` for bytes that are exactly neither,
    ///   ``TenonError/Code/signatureRange``.
    public var parsedSignature: Signature {
        get throws(TenonError) {
            var signature = tenon_signature()
            try TenonError.check(withCore { tenon_evidence_signature(&signature, $0) })
            return try Signature(core: signature)
        }
    }

    /// Returns the evidence with the signature in DER form, which some verifiers of WebAuthn require.
    ///
    /// - Throws: as ``parsedSignature``.
    public func withDERSignature() throws(TenonError) -> Evidence {
        var evidence = self
        evidence.signature = try parsedSignature.derRepresentation
        return evidence
    }

    init(core: tenon_evidence) {
        let certificates = withUnsafeBytes(of: core.x5c) {
            $0.bindMemory(to: tenon_bytes.self).prefix(core.x5c_count).map { [UInt8](core: $0) }
        }
        self.init(
            publicArea: [UInt8](core: core.public_area), certified: [UInt8](core: core.certified),
            signature: [UInt8](core: core.signature), certificates: certificates)
    }

    /// The evidence as the core takes it. Of certificates that are too many it is told their number.
    func withCore<Result>(_ body: (UnsafePointer<tenon_evidence>) -> Result) -> Result {
        ([publicArea, certified, signature] + certificates).withCoreBytes { parts, count in
            let parts = UnsafeBufferPointer(start: parts?.assumingMemoryBound(to: tenon_bytes.self), count: count)
            var core = tenon_evidence()
            core.public_area = parts[0]
            core.certified = parts[1]
            core.signature = parts[2]
            core.x5c_count = certificates.count
            withUnsafeMutableBytes(of: &core.x5c) {
                _ = $0.bindMemory(to: tenon_bytes.self).update(fromContentsOf: parts.dropFirst(3).prefix(4))
            }
            return withUnsafePointer(to: core, body)
        }
    }
}
