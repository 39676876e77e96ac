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
                    message: "The service needs a certificate of an attestation CA, but none is configured.")
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
    /// An error of the network is thrown unchanged, so that the caller tries again.
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

    /// Keeps accepted settings, so that nobody has to give them again. The caller writes the record.
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
            throw error.ofAttestationCA(attestationService?.url ?? "")
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
            throw TenonError(.certificateForm, message: "The certificate does not match this attestation key.")
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
                    .attestationFailed, message: "It refused this device.", httpStatus: answer.status)
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

extension DeviceIdentity {
    /// An attestation CA, which gives the device's attestation key a certificate, for services that ask for one.
    ///
    /// It is shown the certificate of the TPM's endorsement key.
    public struct AttestationService: Hashable, Sendable {
        /// Where `/attest` and `/secret` are.
        public var url: String
        /// The certificates (DER) to which its own must chain.
        public var roots: [[UInt8]]

        /// Names a CA by where it is, and by whom its certificates are trusted.
        public init(url: String, roots: [[UInt8]]) {
            self.url = url
            self.roots = roots
        }
    }
}

/// The certificate of an attestation key, as it lies in its file: PEM (RFC 7468), leaf first.
package enum CertificateFile {
    private static let begin = "-----BEGIN CERTIFICATE-----"
    private static let end = "-----END CERTIFICATE-----"

    package static func encode(_ chain: [[UInt8]]) -> [UInt8] {
        var text = ""
        for certificate in chain {
            var rest = TextEncoding.base64.encode(certificate)[...]
            text += begin + "\n"
            while !rest.isEmpty {
                text += rest.prefix(64) + "\n"
                rest = rest.dropFirst(64)
            }
            text += end + "\n"
        }
        return Array(text.utf8)
    }

    package static func decode(_ bytes: [UInt8]) throws(TenonError) -> [[UInt8]] {
        var chain: [[UInt8]] = []
        var text: String?
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            switch (line, text) {
            case (begin[...], nil): text = ""
            case (end[...], let whole?):
                chain.append(try TextEncoding.base64.decode(whole))
                text = nil
            case (_, let whole?): text = whole + line
            case (_, nil): throw TenonError(.pemForm, message: "The file is not a valid PEM certificate list.")
            }
        }
        return chain
    }
}

/// The facts that a device needs about its attestation key's certificate (RFC 5280, 4.1). Nothing is verified here.
struct KeptCertificate {
    let key: PublicKey
    let serial: [UInt8]
    /// Unix seconds.
    let notBefore: Int64
    let notAfter: Int64

    /// nil for what does not have the form of a certificate of a P-256 key.
    init?(_ certificate: [UInt8]) {
        var outer = Reader(certificate[...])
        guard var whole = outer.enter(0x30), var body = whole.enter(0x30), body.enter(0xa0) != nil,
            let serial = body.enter(0x02), body.enter(0x30) != nil, body.enter(0x30) != nil,
            var validity = body.enter(0x30), let notBefore = validity.time(), let notAfter = validity.time(),
            body.enter(0x30) != nil, let spki = body.element(0x30),
            let key = try? PublicKey(derRepresentation: spki.span)
        else { return nil }
        self.key = key
        self.serial = Array(serial.bytes)
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    private struct Reader {
        var bytes: ArraySlice<UInt8>

        init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

        /// The contents of the next element, if it has this tag.
        mutating func enter(_ tag: UInt8) -> Reader? {
            guard bytes.first == tag, let length = length() else { return nil }
            defer { bytes = bytes.dropFirst(length) }
            return Reader(bytes.prefix(length))
        }

        /// The next element, its tag and length too.
        mutating func element(_ tag: UInt8) -> [UInt8]? {
            let before = bytes
            return enter(tag) == nil ? nil : Array(before.dropLast(bytes.count))
        }

        private mutating func length() -> Int? {
            guard let first = bytes.dropFirst().first else { return nil }
            let digits = first < 0x80 ? 0 : Int(first & 0x7f)
            guard digits <= 2, bytes.count >= 2 + digits else { return nil }
            let long = bytes.dropFirst(2).prefix(digits).reduce(0) { $0 << 8 | Int($1) }
            let length = digits == 0 ? Int(first) : long
            bytes = bytes.dropFirst(2 + digits)
            return length <= bytes.count ? length : nil
        }

        /// UTCTime, or GeneralizedTime (4.1.2.5).
        mutating func time() -> Int64? {
            let isLong = bytes.first == 0x18
            guard let time = enter(isLong ? 0x18 : 0x17) else { return nil }
            guard time.bytes.count == (isLong ? 15 : 13), time.bytes.dropLast().allSatisfy({ 0x30...0x39 ~= $0 }),
                time.bytes.last == UInt8(ascii: "Z")
            else { return nil }
            var text = String(decoding: time.bytes, as: UTF8.self)
            if !isLong { text = (text < "50" ? "20" : "19") + text }
            let digits = Array(text)
            let parts = [0..<4, 4..<6, 6..<8, 8..<10, 10..<12, 12..<14].map { String(digits[$0]) }
            let date = "\(parts[0])-\(parts[1])-\(parts[2])T\(parts[3]):\(parts[4]):\(parts[5])Z"
            return CivilDate.iso8601(date)?.components.seconds
        }
    }
}
