// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority

/// The body of an initialization. It has exactly three members.
private struct InitializationMessage {
    let nonce: String
    /// The tag as it was sent, which is part of the client data.
    let sentTag: String
    let tag: InstanceTag
    /// The proof in base64url.
    let attestation: String

    /// The length of 16 KiB of CBOR in base64url (decision: body-limits).
    private static let maxAttestation = 22_000

    /// - Parameter evidence: the names that the member with the proof may have.
    init(_ message: MessageObject, evidence: [String]) throws(TenonError) {
        try message.allow(only: ["nonce", "hardware_key_tag"] + evidence)
        guard let nonce = try message.text("nonce", maxBytes: 200), !nonce.isEmpty else {
            throw message.missing("nonce")
        }
        guard let tag = try message.text("hardware_key_tag", maxBytes: 128) else {
            throw message.missing("hardware_key_tag")
        }
        var attestation: String?
        for name in evidence {
            guard let text = try message.text(name, maxBytes: InitializationMessage.maxAttestation) else { continue }
            guard attestation == nil else { throw message.refusal(name, "must not come with another proof") }
            attestation = text
        }
        guard let attestation else { throw message.missing(evidence[0]) }
        (self.nonce, sentTag, self.tag, self.attestation) = (nonce, tag, try InstanceTag(tag), attestation)
    }
}

extension ITWalletSteps {
    /// Registers an instance. The nonce is spent before anything is computed, whatever the result.
    func initialize(evidence: [String]) async throws(Refusal) -> AuthorityAnswer {
        let object = try request.message()
        let message = try refusing(Refusal.init(form:)) { () throws(TenonError) in
            try InitializationMessage(object, evidence: evidence)
        }
        let entry = try await engine.redeem(message.nonce, for: app, at: engine.origin(of: request))
        let proof = try Proof(sent: message.attestation)
        let (key, certificate) = try key(in: proof)
        let assurance = try await engine.assurance(
            of: key, by: keyEvidence(of: key, proof, message), redeeming: entry, for: app)
        // The proof is verified now, and with it the certificate.
        guard let ak = CertifiedAK(certificate: certificate) else {
            throw Refusal(.invalidAttestation, "The AK certificate is malformed.")
        }
        _ = try await engine.register(
            key, assurance, for: app, redeeming: message.nonce, id: message.tag.id,
            platform: ak.words.joined(separator: " "), localID: nil
        ) { device, connection throws(TenonError) in
            try Instances.keep(device, ak: ak.publicKey, in: connection)
        }
        return .done
    }

    /// The key that a proof is about, and the certificate of its attestation key. Neither is verified yet.
    private func key(in proof: Proof) throws(Refusal) -> (PublicKey, certificate: [UInt8]) {
        try refusing(Refusal.init(attestation:)) { () throws(TenonError) in
            let evidence = try proof.evidence()
            let key = try PublicArea(dataRepresentation: evidence.publicArea).publicKey
            return (key, evidence.certificates.first ?? [])
        }
    }

    private func keyEvidence(of key: PublicKey, _ proof: Proof, _ message: InitializationMessage) -> KeyEvidence {
        KeyEvidence(
            challenge: message.nonce, keyText: "", proof: .read(proof), activation: nil, isDevelopment: false
        ) { () throws(TenonError) in
            try ClientData(nonce: message.nonce, tag: message.sentTag, thumbprint: key.thumbprint).digest
        }
    }
}
