// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Tenon
import Testing

@testable import TenonITWallet

/// The wire of each dialect: what is sent, and what each answer means.
@Suite struct ProfileTests {
    private static let moment = Moment(continuous: .now, sinceEpoch: .seconds(1_800_000_000))

    private func answer(_ status: Int, _ body: String = "", _ type: String? = "application/json") -> HTTPResponse {
        HTTPResponse(
            status: status, headers: type.map { [("Content-Type", $0)] } ?? [], body: Array(body.utf8),
            sent: Self.moment, received: Self.moment)
    }

    private func provider(_ dialect: WalletDialect = .seed) throws -> ITWallet {
        try ITWallet(baseURL: "https://wallet.example/it", appID: "app", dialect: dialect)
    }

    private func terms(_ key: PublicKey, _ nonce: String = "n-1") -> RegistrationTerms {
        RegistrationTerms(
            key: key, challenge: ServiceChallenge(text: nonce), proof: Proof(dataRepresentation: [1, 2, 3]))
    }

    private let device = ServiceDevice(appID: "app", localID: "local")

    /// A registration needs no signature.
    private func ready(_ provider: ITWallet, _ key: PublicKey) throws -> HTTPRequest {
        guard case .ready(let request) = try provider.registration(device, terms(key)) else {
            throw TenonError(.serviceStep, message: "It is to be signed.")
        }
        return request
    }

    @Test("WP_133: an initialization has exactly three members, in each dialect's words")
    func initialization() throws {
        let expected: [(WalletDialect, String, String, String)] = [
            (.seed, "/application-instances", "nonce", "key_attestation"),
            (.v10, "/instance-initialization", "nonce", "integrity_assertion"),
            (.v14, "/instance-initialization", "nonce", "key_attestation"),
            (.pagopa, "/wallet-instances", "challenge", "key_attestation"),
        ]
        for (dialect, path, nonce, evidence) in expected {
            let provider = try provider(dialect)
            let key = try SoftwareKey().publicKey
            let request = try ready(provider, key)
            #expect(request.method == "POST" && request.url == "https://wallet.example/it" + path)
            #expect(request.headers.contains { $0 == ("Content-Type", "application/json") })
            let members = try #require(JSON(parsing: request.body).object?.members)
            #expect(Set(members.map(\.key)) == [nonce, evidence, "hardware_key_tag"])
            let body = try JSON(parsing: request.body)
            #expect(body[nonce]?.string == "n-1" && body[evidence]?.string == "AQID")
            #expect(try body["hardware_key_tag"]?.string == ITWallet.tag(of: key, localID: "local"))
        }
    }

    @Test("WP_133a WP_133b: changing the nonce, the key or the tag alone changes what is attested")
    func bindings() throws {
        let (key, other) = (try SoftwareKey().publicKey, try SoftwareKey().publicKey)
        for binding in [ITWallet.Binding.document, .concatenation] {
            var provider = try provider()
            provider.binding = binding
            let all = try [
                provider.qualifyingData(device, terms(key)), provider.qualifyingData(device, terms(key, "n-2")),
                provider.qualifyingData(device, terms(other)),
                provider.qualifyingData(ServiceDevice(appID: "app", localID: "other"), terms(key)),
            ]
            #expect(Set(all).count == 4 && all.allSatisfy { $0.count == 32 })
        }
    }

    @Test("WP_133a: the rules of the two app stores, as values")
    func otherBindings() throws {
        var provider = try provider(.pagopa)
        let key = try SoftwareKey().publicKey
        let hash = try provider.qualifyingData(device, terms(key, "d2JhY2NhbG91cmVqdWFuZGFt"))
        #expect(
            TextEncoding.hex.encode(hash) == "67f828058b567914d141fa5ff3796c70ae4bd7d2049322aadb09fd086933a433")
        provider.binding = .nonce
        let raw = try provider.qualifyingData(device, terms(key, "d2JhY2NhbG91cmVqdWFuZGFt"))
        #expect(TextEncoding.hex.encode(raw) == "64324a6859324e6862473931636d5671645746755a474674")
        let long = String(repeating: "n", count: 33)
        #expect(throws: TenonError.self) { try provider.qualifyingData(device, terms(key, long)) }
    }

    @Test("WP_131: one GET for a nonce, which goes back as it came")
    func nonce() throws {
        let provider = try provider()
        let request = try provider.challengeRequest(device, nil)
        #expect(request.method == "GET" && request.url == "https://wallet.example/it/nonce" && request.body.isEmpty)
        func taken(_ body: String, _ type: String = "application/json") -> String? {
            if case .accepted(let challenge) = provider.challenge(in: answer(200, body, type)) {
                challenge.text
            } else {
                nil
            }
        }
        #expect(taken(#"{"nonce":"a b+/=.~"}"#) == "a b+/=.~")
        for body in [#"{"nonce":"a\"b"}"#, #"{"nonce":""}"#, #"{"nonce":1}"#, "{}", "[]", "x"] {
            #expect(taken(body) == nil, "\(body)")
        }
        #expect(taken(#"{"nonce":"a"}"#, "text/plain") == nil)
    }

    @Test("WP_135: 204 alone is a success, and the tag comes from the request")
    func success() throws {
        let provider = try provider()
        let key = try SoftwareKey().publicKey
        let request = try ready(provider, key)
        guard
            case .accepted(.registered(let id, let certificates)) = provider.registration(in: answer(204), to: request)
        else {
            Issue.record("204 is a success")
            return
        }
        #expect(try id == ITWallet.tag(of: key, localID: "local") && certificates.isEmpty)
        for status in [200, 201, 202, 205, 302] {
            if case .accepted = provider.registration(in: answer(status, "{}"), to: request) {
                Issue.record("\(status) was taken for a success")
            }
        }
    }

    /// Each row of the specification's table, and the words that are not in it.
    static let refusals: [(Int, String, String, ServiceVerdict?, Bool)] = [
        (400, #"{"error":"bad_request","error_description":"x"}"#, "application/json", nil, false),
        (400, #"{"error":"invalid_request"}"#, "application/json", nil, false),
        (403, #"{"error":"invalid_request"}"#, "application/json", .challengeSpent, false),
        (403, #"{"error":"forbidden"}"#, "application/json", .challengeSpent, false),
        (403, #"{}"#, "application/json", .challengeSpent, false),
        (403, #"{"error":"integrity_check_error"}"#, "application/json", .attestationRefused, false),
        (
            403, #"{"type":"https://x.example/integrity_check_error","title":"No"}"#, "application/problem+json",
            .attestationRefused, false
        ),
        (409, #"{"title":"Conflict","status":409}"#, "application/problem+json", .attestationRefused, false),
        (409, "<html>", "text/html", nil, false),
        (403, "<html>", "text/html", nil, false),
        (404, #"{"error":"not_found"}"#, "application/json", nil, false),
        (422, #"{"error":"validation_error"}"#, "application/json", nil, false),
        (500, #"{"error":"server_error"}"#, "application/json", nil, true),
        (500, #"{"title":"Internal Server Error"}"#, "application/problem+json", nil, true),
        (503, #"{"error":"temporarily_unavailable"}"#, "application/json", nil, true),
        (429, "", "text/plain", nil, true),
    ]

    @Test(
        "WP_035 WP_035a WP_036 WP_037 WP_038 WP_039 WP_040 WP_150 WP_151: each answer of the table", arguments: refusals
    )
    func answers(_ status: Int, _ body: String, _ type: String, _ verdict: ServiceVerdict?, _ isLater: Bool) throws {
        let provider = try provider()
        let request = try ready(provider, SoftwareKey().publicKey)
        switch provider.registration(in: answer(status, body, type), to: request) {
        case .accepted, .unclear: Issue.record("\(status) was taken for something else")
        case .later(let error): #expect(isLater && error.httpStatus == status)
        case .refused(let refusal):
            #expect(!isLater && refusal.verdict == verdict && refusal.error.httpStatus == status)
        }
    }

    @Test("WP_023: a provider that is not in the federation is refused before a key is made")
    func federation() async throws {
        var provider = try provider()
        try await provider.checkBeforeFirstKey()
        provider.checkFederation = { () throws(TenonError) in
            throw TenonError(.serviceRefused, message: "It is not in the federation.")
        }
        await #expect(throws: TenonError.self) { try await provider.checkBeforeFirstKey() }
    }

    @Test("WP_014: a base URL is https, and one place is one identity")
    func urls() throws {
        #expect(try provider().baseURL == "https://wallet.example/it")
        #expect(
            try ITWallet(baseURL: "HTTPS://Wallet.Example:443/it/", appID: "app").baseURL == "https://wallet.example/it"
        )
        #expect(throws: TenonError.self) { try ITWallet(baseURL: "http://wallet.example", appID: "app") }
        #expect(throws: TenonError.self) { try ITWallet(baseURL: "https://wallet.example", appID: "") }
    }

    @Test("a certification request verifies, and a changed one does not")
    func certificationRequest() async throws {
        let key = try SoftwareKey()
        let request = try await CertificationRequest.make(for: key)
        // SEQUENCE of info, algorithm and a BIT STRING; the info has its own two bytes of header.
        let info = Array(request[3..<(3 + 2 + Int(request[4]))])
        #expect(request[0] == 0x30 && request[1] == 0x81 && Int(request[2]) == request.count - 3)
        let signature = try Signature(derRepresentation: Array(request[(3 + info.count + 12 + 3)...]))
        #expect(key.publicKey.isValidSignature(signature, for: info))
        #expect(!key.publicKey.isValidSignature(signature, for: info + [0]))
    }
}

/// Tokens of ES256 in their compact form.
@Suite struct JWSTests {
    @Test("WP_142: what is signed verifies, and nothing else")
    func signs() async throws {
        let (key, other) = (try SoftwareKey(), try SoftwareKey())
        let text = try await JWS.sign(["alg": "ES256", "typ": "t"], ["a": 1], by: key)
        let token = try JWS(parsing: text)
        #expect(token.isSigned(by: key.publicKey) && !token.isSigned(by: other.publicKey))
        #expect(token.header["typ"]?.string == "t" && token.claims["a"]?.integer == 1)
        let parts = text.split(separator: ".").map(String.init)
        let changed = try await JWS.sign(["alg": "ES256", "typ": "t"], ["a": 2], by: other)
            .split(separator: ".").map(String.init)
        #expect(try !JWS(parsing: "\(parts[0]).\(changed[1]).\(parts[2])").isSigned(by: key.publicKey))
    }

    @Test("WP_030 WP_031: what this provider issued for this key, and what is valid now, is kept")
    func issued() async throws {
        let (issuer, other, key) = (try SoftwareKey(), try SoftwareKey(), try SoftwareKey().publicKey)
        let call = WalletCall.instance
        func take(
            _ changes: [String: JSON], _ type: String? = nil, by signer: SoftwareKey? = nil
        ) async throws -> Int64? {
            var claims = JSONObject()
            (claims["iss"], claims["iat"], claims["exp"]) = ("https://p.example", 1_000, 2_000)
            claims["cnf"] = ["jwk": key.jwk]
            for (name, value) in changes { claims[name] = value }
            let header: JSON = ["alg": "ES256", "typ": .string(type ?? call.answerType ?? "")]
            let text = try await JWS.sign(header, .object(claims), by: signer ?? issuer)
            return try WalletAttestation(
                text, of: call, for: key, [1], issuer: "https://p.example", keys: [issuer.publicKey], now: 1_500
            ).issuedAt
        }
        #expect(try await take([:]) == 1_000)
        #expect(try await take(["iat": 1_800, "nbf": 1_800]) == 1_800)
        for (name, value) in [
            ("iss", "https://q.example"), ("iat", 1_801), ("nbf", 1_801), ("exp", 1_500), ("exp", .null),
            ("cnf", ["jwk": other.publicKey.jwk]), ("cnf", .null),
        ] as [(String, JSON)] {
            await #expect(throws: TenonError.self, "\(name)") { try await take([name: value]) }
        }
        await #expect(throws: TenonError.self) { try await take([:], "another type") }
        await #expect(throws: TenonError.self) { try await take([:], by: other) }
    }

    @Test("WP_030: other algorithms and forms are not read")
    func forms() async throws {
        let key = try SoftwareKey()
        let good = try await JWS.sign(["alg": "ES256"], ["a": 1], by: key).split(separator: ".").map(String.init)
        func part(_ text: String) -> String { TextEncoding.base64url.encode(Array(text.utf8)) }
        let bad = [
            "", "a", "a.b.c", good.dropLast().joined(separator: "."), (good + good).joined(separator: "."),
            "\(part(#"{"alg":"none"}"#)).\(good[1]).\(good[2])", "\(part(#"{"alg":"HS256"}"#)).\(good[1]).\(good[2])",
            "\(part(#"{"alg":"ES256","crit":["x"]}"#)).\(good[1]).\(good[2])", "\(good[0]).\(part("[]")).\(good[2])",
            "\(good[0]).\(good[1]).\(good[2])=", "\(good[0]).\(good[1]).AAAA",
            "\(good[0]).\(part(#"{"a":1,"a":2}"#)).\(good[2])",
        ]
        for text in bad { #expect(throws: TenonError.self) { try JWS(parsing: text) } }
    }
}
