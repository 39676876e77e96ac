// SPDX-License-Identifier: Apache-2.0

// The certificate of the attestation key, which a service that has no activation of its own wants to see.
extension Flow {
    /// Who is shown the attestation key: it is one for each (decision: own-ak).
    var attestationAuthority: String {
        get throws(TenonError) {
            guard context.declaration.attestation == .certificate else { return context.origin }
            guard let service = attestationService else {
                throw TenonError(
                    .attestationUnavailable,
                    message: "The service asks for a certificate of an attestation CA, and none is configured.")
            }
            return try ofCA { () throws(TenonError) in try HTTPURL(parsing: service.url).origin }
        }
    }

    /// The certificates that go with a proof: those that are kept, as long as they are good.
    func attestationCertificates() async throws(TenonError) -> [[UInt8]] {
        guard context.declaration.attestation == .certificate else { return [] }
        let record = record
        let kept = try await context.onDisk { store throws(TenonError) in try store.certificate(of: record) }
        guard let kept, let certificate = record.attestationKey?.certificate, certificate.notAfter > serviceTime else {
            return []
        }
        return try CertificateFile.decode(kept)
    }

    /// Has a certificate, if one is wanted: the one that is kept, or one of the attestation CA.
    ///
    /// What the network fails of is thrown as it is, so that it is tried again.
    func certify(_ attester: Attester?) async throws(TenonError) {
        guard let attester, context.declaration.attestation == .certificate,
            try await attestationCertificates().isEmpty
        else { return }
        try await enrol(attester.facts, attester.area)
    }

    /// The CA that was named, or the one whose certificate was taken before.
    private var attestationService: DeviceIdentity.AttestationService? {
        context.attestationService ?? record.attestationSettings?.service
    }

    /// The endorsement key's certificate and those above it: with the leaf alone go those that were taken with it
    /// before.
    func endorsementCertificates() async throws(TenonError) -> [[UInt8]] {
        let given = try await vault.endorsementCertificates()
        guard given.count == 1, let kept = record.attestationSettings?.endorsement, kept.first == given.first else {
            return given
        }
        return kept
    }

    /// What was taken need not be said again; the record is written by what follows.
    func remember(_ endorsement: [[UInt8]], _ service: DeviceIdentity.AttestationService? = nil) {
        var settings = record.attestationSettings ?? AttestationSettings()
        if endorsement.count > 1 { settings.endorsement = endorsement }
        if let service { settings.service = service }
        guard settings != AttestationSettings(), settings.size <= AttestationSettings.longest else { return }
        record.attestationSettings = settings
    }

    func enrol(_ ak: KeyFacts, _ area: PublicArea) async throws(TenonError) {
        guard let service = attestationService else { return }
        let url = try ofCA { () throws(TenonError) in try HTTPURL(parsing: service.url) }
        guard url.isSecure || url.isLoopback else { throw TenonError.insecure.ofAttestationCA(service.url) }
        let endorsement: [[UInt8]]
        let credential: Credential
        do throws(TenonError) { endorsement = try await endorsementCertificates() } catch {
            throw .attestation(error)
        }
        let request = try AttestRequest(ekCertificates: endorsement, ak: area)
        let offer = try await post("/attest", request.encoded())
        credential = try ofCA { () throws(TenonError) in try AttestAnswer(parsing: offer).credential }
        let secret: Secret
        do throws(TenonError) {
            secret = try await vault.secret(of: credential, certificate: endorsement[0], by: ak)
        } catch {
            throw .attestation(error)
        }
        let (body, now) = (try await post("/secret", SecretRequest(secret).encoded()), serviceTime)
        let answer = try ofCA { () throws(TenonError) in
            let answer = try SecretAnswer(parsing: body)
            try answer.verify(for: area.publicKey, roots: service.roots, now: now)
            return answer
        }
        remember(endorsement, service)
        try await keep(answer.chain, of: area.publicKey, issuer: url.origin)
    }

    /// Says of an error that it is the attestation CA's.
    private func ofCA<Value>(_ work: () throws(TenonError) -> Value) throws(TenonError) -> Value {
        do throws(TenonError) { return try work() } catch {
            throw error.ofAttestationCA(context.attestationService?.url ?? "")
        }
    }

    /// Keeps the certificate that came with a registration, to show it to this service only. Without it the identity
    /// is no worse.
    func keepIssued(_ chain: [[UInt8]]) async {
        guard !chain.isEmpty, context.declaration.attestation == .activation, let ak = record.attestationKey else {
            return
        }
        do throws(TenonError) {
            let area = try await vault.publicArea(ofAttestationKey: ak.facts)
            try await keep(chain, of: area.publicKey, issuer: context.origin)
        } catch {}
    }

    private func keep(_ chain: [[UInt8]], of ak: PublicKey, issuer: String) async throws(TenonError) {
        guard let leaf = chain.first.flatMap(KeptCertificate.init), leaf.key == ak else {
            throw TenonError(.certificateForm, message: "The certificate is none of this attestation key.")
        }
        let (file, held) = (CertificateFile.encode(chain), held)
        try await context.onDisk { store throws(TenonError) in try store.saveCertificate(file, held) }
        record.attestationKey?.certificate = AttestationKey.Certificate(
            issuer: issuer, serial: leaf.serial, notBefore: leaf.notBefore, notAfter: leaf.notAfter,
            digest: try Digest(hashing: file))
        try await save()
    }

    private func post(_ path: String, _ body: [UInt8]) async throws(TenonError) -> [UInt8] {
        guard let service = attestationService else { throw .noSuchStep }
        var base = service.url[...]
        while base.hasSuffix("/") { base.removeLast() }
        let answer: HTTPResponse
        do throws(TenonError) {
            answer = try await exchange(
                HTTPRequest(
                    method: "POST", url: base + path, headers: [("Content-Type", "application/json")], body: body))
        } catch {
            throw error.ofAttestationCA(service.url)
        }
        guard answer.status == 200 || answer.status == 201 else {
            let refusal =
                answer.isTransient
                ? TenonError(answer, code: nil, .busy)
                : TenonError(
                    .attestationFailed, message: "It refuses this device.", httpStatus: answer.status)
            throw refusal.ofAttestationCA(service.url)
        }
        return answer.body
    }
}

extension TenonError {
    /// The same, said of the attestation CA, which has a URL and flags of its own. That a task was cancelled is
    /// nobody's.
    fileprivate func ofAttestationCA(_ url: String) -> TenonError {
        guard code != .cancelled, code != .outcomeUnknown else { return self }
        var error = saying("The attestation CA at \(url): \(message)")
        error.isOfAttestationCA = true
        return error
    }
}
