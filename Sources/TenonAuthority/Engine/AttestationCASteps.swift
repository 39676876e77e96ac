// SPDX-License-Identifier: Apache-2.0
internal import Tenon

extension AuthorityEngine {
    /// A random serial, and five minutes for clocks that are behind (decision: ak-certificate).
    func certificateTerms() -> CertificateTerms {
        let now = clock.now().seconds
        return CertificateTerms(
            serial: [UInt8](random: 16), notBefore: now - 300, notAfter: now + Self.certificateLife)
    }

    /// Issues the certificate of an AK; returns it with those above it that a device must show.
    func chain(
        for ak: PublicArea, _ attestation: ChallengeEntry.Attestation, _ terms: CertificateTerms
    ) async throws(Refusal) -> [[UInt8]] {
        let issuer = keys.issuer
        // An AK certificate names its TPM by three texts. These say that a text is unknown: no maker has this number.
        func word(_ known: [UInt8], _ unknown: String) -> [UInt8] { known.isEmpty ? Array(unknown.utf8) : known }
        let (maker, model) = (word(attestation.maker, "id:00000000"), word(attestation.model, "unknown"))
        let version = word(attestation.version, "id:00000000")
        return try await waiting { () throws(TenonError) in
            try await issuing.run { () throws(TenonError) in
                let certificate = try issuer.certificate(
                    for: ak, maker: maker, model: model, version: version, terms: terms)
                return [certificate, issuer.certificate]
            }
        }
    }

    /// `POST /attest` of the attestation CA: makes a credential for an AK. The entry is kept under the SHA-256 of the
    /// secret that the device must return.
    func attest(_ request: AuthorityRequest, for named: AppRecord?) async throws(Refusal) -> AuthorityAnswer {
        let app = try self.app(named?.id ?? "")
        let message = try refusing(Refusal.init(form:)) { () throws(TenonError) in
            try AttestRequest(parsing: request.body)
        }
        let ak = try refusing(Refusal.init(attestation:)) { () throws(TenonError) in
            try AttestationCA.attestationKey(of: message)
        }
        let ek = try await admit(message.ekCertificates, for: app)
        let offer = try await gate.run { () throws(Refusal) in
            try refusing(Refusal.init(attestation:)) { () throws(TenonError) in
                try AttestationCA.offer(message, to: ak, in: ek.key)
            }
        }
        let entry = ChallengeEntry(
            purpose: .certificate, app: app.id, origin: try origin(of: request), dialect: "ca",
            deadline: clock.now().advanced(byMilliseconds: Self.challengeLife * 1_000),
            asker: Address.subscriber(request.peer),
            attestation: ChallengeEntry.Attestation(ek, ak))
        try await waiting { () throws(TenonError) in try await stores.challenges.put(entry, under: offer.digest) }
        return AuthorityAnswer(encoded: try refusing { () throws(TenonError) in try offer.answer.encoded() })
    }

    /// `POST /secret` of the attestation CA: issues the certificate. The secret is used up, whatever the result.
    func secret(_ request: AuthorityRequest, for named: AppRecord?) async throws(Refusal) -> AuthorityAnswer {
        let app = try self.app(named?.id ?? "")
        let digest = try refusing(Refusal.init(form:)) { () throws(TenonError) in
            try SecretRequest(parsing: request.body).digest
        }
        let entry = try await waiting { () throws(TenonError) in
            try await stores.challenges.take(.certificate, under: digest)
        }
        guard let entry, entry.app == app.id, let attestation = entry.attestation else {
            throw Refusal(.invalidChallenge, "The secret is not expected, or came too late.")
        }
        let terms = certificateTerms()
        let (ak, record) = try refusing { () throws(TenonError) in
            let ak = try PublicArea(dataRepresentation: attestation.akPublic)
            let record = AKCertificate(
                serial: terms.serial, app: app.id, ek: try keys.hidden(attestation.ekID), akName: ak.name,
                notAfter: terms.notAfter)
            return (ak, record)
        }
        guard try await waiting({ () throws(TenonError) in try await stores.devices.record(record) }) else {
            throw .ekDenied
        }
        let chain = try await chain(for: ak, attestation, terms)
        return AuthorityAnswer(
            encoded: try refusing { () throws(TenonError) in try SecretAnswer(chain: chain).encoded() })
    }
}
