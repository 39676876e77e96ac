// SPDX-License-Identifier: Apache-2.0
public import Tenon

extension ITWallet: ServiceProfile {
    package var declaration: ServiceDeclaration {
        var declaration = ServiceDeclaration(
            profile: Self.profile, dialect: dialect.name, baseURL: baseURL, alias: "it_wallet_\(appID)")
        declaration.challenge?.longestLife = .seconds(300)
        declaration.attestation = .certificate
        declaration.keyAge = .unlimited
        declaration.errorTypes = ["application/json", "application/problem+json"]
        declaration.verdicts = [Meaning.refused: .challengeSpent, Meaning.tooWeak: .attestationRefused]
        declaration.checksTPM = true
        declaration.replacesUnsentKey = true
        declaration.removesKeys = true
        return declaration
    }

    package func checkBeforeFirstKey() async throws(TenonError) { try await checkFederation?() }

    /// The thumbprint of the key as a JWK (RFC 7638).
    package func text(of key: PublicKey) -> String { (try? key.thumbprint) ?? "" }

    package func challengeRequest(
        _ device: ServiceDevice, _ offer: AttestationOffer?
    ) throws(TenonError) -> HTTPRequest { request("GET", "/nonce") }

    package func challenge(in answer: HTTPResponse) -> ServiceAnswer<ServiceChallenge> {
        guard answer.status == 200, let nonce = answer.members?["nonce"]?.string else { return failure(answer) }
        guard ClientData.isNonce(nonce) else { return .refused(ServiceRefusal(verdict: nil, error: .nonceForm)) }
        return .accepted(ServiceChallenge(text: nonce))
    }

    package func qualifyingData(_ device: ServiceDevice, _ terms: RegistrationTerms) throws(TenonError) -> [UInt8] {
        let nonce = terms.challenge?.text ?? ""
        let tag = try Self.tag(of: terms.key, localID: device.localID)
        switch binding ?? dialect.binding {
        case .document:
            let data = try ClientData.initialization(
                dialect.nonceMember, nonce: nonce, tag: tag, thumbprint: terms.key.thumbprint)
            return try Digest(hashing: data).rawRepresentation
        case .concatenation:
            let data = Array(nonce.utf8) + terms.key.rawRepresentation + Array(tag.utf8)
            return try Digest(hashing: data).rawRepresentation
        case .nonceHash: return try Digest(hashing: Array(nonce.utf8)).rawRepresentation
        case .nonce:
            guard nonce.utf8.count <= 32 else { throw .nonceForm }
            return Array(nonce.utf8)
        }
    }

    /// Exactly three members: a provider refuses any other.
    package func registration(_ device: ServiceDevice, _ terms: RegistrationTerms) throws(TenonError) -> ServiceDraft {
        guard let nonce = terms.challenge?.text, let proof = terms.proof else {
            throw TenonError(.attestationUnavailable, message: "An instance is initialized only with an attestation.")
        }
        var body = JSONObject()
        body[dialect.nonceMember] = .string(nonce)
        body[dialect.evidenceMember] = .string(TextEncoding.base64url.encode(proof.dataRepresentation))
        body["hardware_key_tag"] = .string(try Self.tag(of: terms.key, localID: device.localID))
        return .ready(request("POST", dialect.initialization, try JSON.object(body).encoded()))
    }

    /// The answer is empty, so the tag comes from the request. Another success than 204 says nothing.
    package func registration(
        in answer: HTTPResponse, to request: HTTPRequest
    ) -> ServiceAnswer<RegistrationOutcome> {
        guard answer.status == 204 else { return failure(answer) }
        guard let tag = (try? JSON(parsing: request.body))?["hardware_key_tag"]?.string else {
            return .unclear(.unreadable)
        }
        return .accepted(.registered(deviceID: tag, attestationCertificates: []))
    }

    func request(_ method: String, _ path: String, _ body: [UInt8] = []) -> HTTPRequest {
        var headers = [(name: "Accept", value: "application/json")]
        if method != "GET" { headers.append(("Content-Type", "application/json")) }
        return HTTPRequest(method: method, url: baseURL + path, headers: headers, body: body)
    }
}

/// What the refusals of a provider come to: its statuses decide, and its words only where a status has two meanings.
enum Meaning {
    /// 403: of the nonce, the attestation or the instance; which one only free text says.
    static let refused = "invalid_request"
    /// The device is below the provider's minimum.
    static let tooWeak = "integrity_check_error"
}

extension ITWallet {
    /// The meaning of an answer that is not a success. The specification's own example has a word for 403 that its table
    /// does not have, so a word that is not known means what the status means.
    func failure<Value>(_ answer: HTTPResponse) -> ServiceAnswer<Value> {
        let told = answer.code
        let meant =
            switch (answer.status, told) {
            case (409, _), (403, Meaning.tooWeak): Meaning.tooWeak
            case (403, _): Meaning.refused
            // A word that belongs to another status means nothing here.
            default: told.flatMap { [Meaning.refused, Meaning.tooWeak].contains($0) ? nil : $0 }
            }
        let failure: ServiceAnswer<Value> = declaration.failure(answer, code: meant)
        guard case .refused(var refusal) = failure else { return failure }
        refusal.error = TenonError(
            refusal.error.code, message: Self.sentence(answer.status, refusal), httpStatus: answer.status,
            serverCode: told, retryAfter: refusal.error.retryAfter)
        return .refused(refusal)
    }

    private static func sentence(_ status: Int, _ refusal: ServiceRefusal) -> String {
        switch status {
        case 400, 422: "The provider does not understand the request. Is the dialect right?"
        case 403 where refusal.verdict == .challengeSpent:
            "The provider refused the nonce, the attestation or the instance."
        case 404: "The provider has no such endpoint, or does not know this instance."
        default: refusal.error.message
        }
    }
}

extension TenonError {
    static let unreadable = TenonError(
        .serviceAnswer, message: "The provider's answer could not be understood. Check the base URL and the dialect.")
}

extension HTTPResponse {
    /// The body, if it says that it is JSON and is an object.
    var members: JSONObject? {
        let types = values(of: "Content-Type")
        guard types.count == 1 else { return nil }
        let type = types[0].prefix { $0 != ";" && $0 != " " }.lowercased()
        guard ["application/json", "application/problem+json"].contains(type) else { return nil }
        return (try? JSON(parsing: body))?.object
    }

    /// `error`, or of problem details (RFC 9457) the end of `type`, or `title`.
    var code: String? {
        guard let members else { return nil }
        let type = members["type"]?.string?.split(separator: "/").last.map(String.init)
        let words = [members["error"]?.string, type == "about:blank" ? nil : type, members["title"]?.string]
        return words.compactMap { $0 }.first { 1...64 ~= $0.utf8.count && $0.utf8.allSatisfy { 0x21...0x7e ~= $0 } }
    }
}

extension DeviceIdentity {
    /// The identity of this device at an IT-Wallet provider.
    ///
    /// - Parameters:
    ///   - keys: where the keys live, for example a TPM.
    ///   - transport: how the provider is reached.
    ///   - attestationService: the CA that gives the device's attestation key its certificate.
    ///   - stateDirectory: the folder of the state; it is made with mode 0700 when it does not exist.
    ///   - log: receives the events of the identity, which contain no secrets.
    public convenience init(
        _ provider: ITWallet, keys: Keys, transport: any Transport, attestationService: AttestationService? = nil,
        stateDirectory: String, log: LogSink? = nil
    ) throws(TenonError) {
        try self.init(
            appID: provider.appID, service: Service(provider), keys: keys, transport: transport,
            attestationService: attestationService, stateDirectory: stateDirectory, log: log)
    }
}
