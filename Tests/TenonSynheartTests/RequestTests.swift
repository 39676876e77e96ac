// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonSynheart
import Testing

/// Requests, byte for byte.
@Suite struct RequestTests {
    static let device = ServiceDevice(
        appID: "app_1", localID: "9b2d1f6e-0c3a-4b5d-8e7f-001122334455", deviceID: "dev_1")
    static let stamp = RequestStamp(timestamp: "1795276800", nonce: "9b2d1f6e-0c3a-4b5d-8e7f-001122334455")

    static func text(_ request: HTTPRequest) -> String { String(decoding: request.body, as: UTF8.self) }

    /// TPMT_PUBLIC of an attestation key (Part 2, 12.2.4).
    static func area(of key: PublicKey) throws -> PublicArea {
        let head: [UInt8] = [
            0x00, 0x23, 0x00, 0x0b, 0x00, 0x05, 0x04, 0x72, 0x00, 0x00, 0x00, 0x10, 0x00, 0x18, 0x00, 0x0b, 0x00, 0x03,
            0x00, 0x10,
        ]
        let (x, y) = (key.rawRepresentation.prefix(32), key.rawRepresentation.suffix(32))
        return try PublicArea(dataRepresentation: head + [0, 32] + x + [0, 32] + y)
    }

    /// The headers beside those of a signature. In a build for development there is one more (W20).
    static func plain(_ hasBody: Bool) -> [String] {
        var lines = ["Accept: application/json"]
        #if DevMode
            lines.append("X-Synheart-Dev-Mode: true")
        #endif
        return lines + (hasBody ? ["Content-Type: application/json"] : [])
    }

    static func lines(_ request: HTTPRequest) -> [String] { request.headers.map { "\($0.name): \($0.value)" } }

    @Test func aChallengeIsAskedByTheAppAlone() throws {
        let request = try local().challengeRequest(Self.device, nil)
        #expect(request.method == "POST")
        #expect(request.url == "http://localhost/auth/v1/device/challenge")
        #expect(Self.lines(request) == Self.plain(true))
        #expect(Self.text(request) == #"{"app_id":"app_1"}"#)
    }

    /// As in docs/synheart.md.
    @Test func theTPMIsNamedWhereItIsToBeActivated() throws {
        let area = try Self.area(of: SoftwareKey().publicKey)
        var offer = AttestationOffer(endorsementCertificates: [[1, 2, 3], [4]], attestationKey: area)
        let request = try local(.tenon).challengeRequest(Self.device, offer)
        let ak = TextEncoding.base64.encode(area.dataRepresentation)
        #expect(
            Self.text(request)
                == "{\"ak_public\":\"\(ak)\",\"app_id\":\"app_1\",\"ek_certificates\":[\"AQID\",\"BA==\"]}")
        offer.parent = [9, 8]
        let named = try local(.tenon).challengeRequest(Self.device, offer)
        #expect(Self.text(named).hasSuffix("[\"AQID\",\"BA==\"],\"parent_name\":\"CQg=\"}"))
    }

    /// W17, docs/synheart.md: the documented fields, `device_local_id` among them, and a nonce over the very texts
    /// that are sent.
    @Test func w17ARegistrationHasTheDocumentedFields() throws {
        let key = try SoftwareKey().publicKey
        let terms = RegistrationTerms(
            key: key, challenge: ServiceChallenge(text: challengeText), proof: Proof(dataRepresentation: [0xfb, 0xff]))
        let request = try ready(try local().registration(Self.device, terms))
        #expect(request.url == "http://localhost/auth/v1/device/register")
        #expect(Self.lines(request) == Self.plain(true))
        let keyText = TextEncoding.base64.encode(key.derRepresentation)
        #expect(
            Self.text(request) == """
                {"app_id":"app_1","challenge":"\(challengeText)",\
                "device_local_id":"9b2d1f6e-0c3a-4b5d-8e7f-001122334455","platform":"linux","proof":"-_8",\
                "public_key":"\(keyText)"}
                """)
        let body = try JSON(parsing: request.body)
        let texts = try #require(body["challenge"]?.string) + (body["public_key"]?.string ?? "")
        let nonce = try local().qualifyingData(Self.device, terms)
        #expect(try nonce == Digest(hashing: Array(texts.utf8)).rawRepresentation)
    }

    /// A registration is not signed.
    private func ready(_ draft: ServiceDraft) throws -> HTTPRequest {
        guard case .ready(let request) = draft else { throw TenonError(.serviceStep, message: "It is to be signed.") }
        return request
    }

    @Test func theActivationGoesWithTheRegistration() throws {
        let activation = try Digest(hashing: [1])
        let terms = RegistrationTerms(
            key: try SoftwareKey().publicKey, challenge: ServiceChallenge(text: challengeText),
            proof: Proof(dataRepresentation: [1]), activation: activation)
        let request = try ready(try local(.tenon).registration(Self.device, terms))
        let body = try JSON(parsing: request.body)
        #expect(body["activation_proof"]?.string == TextEncoding.base64.encode(activation.rawRepresentation))
        #expect(body["sig_versions"] == [1, 2])
        #expect(body.object?.members.count == 8)
    }

    /// W25: only a development build registers without a proof, and no build claims to be one by itself.
    @Test func w25WithoutAProofNothingIsSent() throws {
        let terms = RegistrationTerms(
            key: try SoftwareKey().publicKey, challenge: ServiceChallenge(text: challengeText))
        #if DevMode
            let request = try ready(try local().registration(Self.device, terms))
            #expect(try JSON(parsing: request.body)["proof"] == "none")
        #else
            let error = #expect(throws: TenonError.self) { try local().registration(Self.device, terms) }
            #expect(error?.code == .attestationUnavailable)
        #endif
    }

    /// W20: at compile time, and nowhere else. `Tests/Scripts/dev_mode.sh` looks for the name in what is built.
    @Test func w20NoRequestSaysThatItIsForDevelopment() async throws {
        let key = try SoftwareKey()
        let terms = RegistrationTerms(
            key: key.publicKey, challenge: ServiceChallenge(text: challengeText), proof: Proof(dataRepresentation: [1]))
        let rotation = RotationTerms(current: key.publicKey, new: key.publicKey, stamp: Self.stamp)
        let registration = try ready(try local().registration(Self.device, terms))
        let requests = [
            try local().challengeRequest(Self.device, nil), registration,
            try await signed(try local().rotation(Self.device, rotation), key),
            try await signed(try local().question(Self.device, Self.stamp), key),
        ]
        for request in requests {
            let isSaid = request.headers.contains { $0.name.lowercased().contains("dev-mode") }
            #if DevMode
                #expect(isSaid)
            #else
                #expect(!isSaid)
            #endif
        }
    }

    /// The headers of an application's own request are six. In a build for development there is one more, which a
    /// backend has to see, too (W20).
    @Test func anApplicationSendsSixHeaders() throws {
        let signature = try SoftwareKey(signsDigests: true).signature(for: Digest(hashing: [1]))
        let values = try RequestHeaders(
            signature: signature, appID: "app_1", deviceID: "dev_1", timestamp: Self.stamp.timestamp,
            nonce: Self.stamp.nonce)
        var names = [
            "X-App-ID", "X-Device-ID", "X-Synheart-Signature", "X-Synheart-Timestamp", "X-Synheart-Nonce",
            "X-Synheart-Sig-Version",
        ]
        #if DevMode
            names.append("X-Synheart-Dev-Mode")
        #endif
        #expect(try local().headers(values).map(\.name) == names)
    }

    @Test func aRegistrationNeedsAChallenge() throws {
        let terms = RegistrationTerms(key: try SoftwareKey().publicKey, proof: Proof(dataRepresentation: [1]))
        #expect(#expect(throws: TenonError.self) { try local().registration(Self.device, terms) }?.code == .serviceStep)
        #expect(#expect(throws: TenonError.self) { try local().qualifyingData(Self.device, terms) }?.code == .empty)
    }

    /// As in docs/synheart.md: six headers by the current key, over the path and the body as sent, and nothing else.
    @Test func aRotationIsSignedByTheCurrentKey() async throws {
        let current = try SoftwareKey()
        let new = try SoftwareKey().publicKey
        for (dialect, proof) in [(Dialect.docs, nil), (.tenon, Proof(dataRepresentation: [1]))] {
            let terms = RotationTerms(current: current.publicKey, new: new, proof: proof, stamp: Self.stamp)
            let request = try await signed(try local(dialect).rotation(Self.device, terms), current)
            #expect(request.url == "http://localhost/auth/v1/device/rotate-key")
            let body = try JSON(parsing: request.body)
            #expect(body["new_public_key"]?.string == TextEncoding.base64.encode(new.derRepresentation))
            #expect(body["device_id"] == "dev_1")
            #expect(body["app_id"] == "app_1")
            #expect(body["proof"]?.string == proof.map { _ in "AQ" })
            #expect(body["sig_versions"] == (proof == nil ? nil : [1, 2]))
            #expect(body.object?.members.count == (proof == nil ? 3 : 5))
            try check(request, "POST", "/auth/v1/device/rotate-key", current.publicKey)
        }
    }

    @Test func aQuestionIsSignedToo() async throws {
        let key = try SoftwareKey()
        let request = try await signed(try local(.tenon).question(Self.device, Self.stamp), key)
        #expect(request.url == "http://localhost/auth/v1/device/self")
        #expect(request.body.isEmpty)
        try check(request, "GET", "/auth/v1/device/self", key.publicKey)
    }

    /// Decision: attested-rotation. The attestation key's statement about a new key.
    @Test func theProofOfARotationNamesAllThatItIsFor() throws {
        let (current, new) = (try SoftwareKey().publicKey, try SoftwareKey().publicKey)
        let terms = RotationTerms(current: current, new: new, stamp: Self.stamp)
        let nonce = try Digest.rotationNonce(
            origin: "http://localhost", appID: "app_1", deviceID: "dev_1",
            oldKeyText: TextEncoding.base64.encode(current.derRepresentation),
            newKeyText: TextEncoding.base64.encode(new.derRepresentation), timestamp: "1795276800")
        #expect(try local(.tenon).qualifyingData(Self.device, terms) == nonce.rawRepresentation)
    }

    @Test func whoIsNotRegisteredCannotRotate() throws {
        let device = ServiceDevice(appID: "app_1", localID: "l")
        let key = try SoftwareKey().publicKey
        let terms = RotationTerms(current: key, new: key, stamp: Self.stamp)
        #expect(#expect(throws: TenonError.self) { try local().rotation(device, terms) }?.code == .serviceStep)
        #expect(#expect(throws: TenonError.self) { try local().question(device, Self.stamp) }?.code == .serviceStep)
        #expect(#expect(throws: TenonError.self) { try local().qualifyingData(device, terms) }?.code == .empty)
    }

    @Test func theDialectsDeclareWhatTheyAre() throws {
        let docs = try local().declaration
        #expect(docs.profile == "synheart")
        #expect(docs.alias == "synheart_auth_app_1")
        #expect(docs.platform == "linux")
        #expect(docs.baseURL == "http://localhost/auth")
        #expect([docs.dialect, try local(.tenon).declaration.dialect] == ["docs", "tenon"])
        #expect(docs.rotation == .signedByCurrent(isProven: false))
        #expect(try local(.tenon).declaration.rotation == .signedByCurrent(isProven: true))
        #expect(docs.isAttestationRequired)
        #expect(docs.resend == .fresh)
        #expect(docs.challenge?.longestLife == .seconds(90))
    }

    private func local(_ dialect: Dialect = .docs) throws -> Synheart {
        try Synheart(baseURL: "http://localhost/auth", appID: "app_1", dialect: dialect)
    }

    private func signed(_ draft: ServiceDraft, _ key: SoftwareKey) async throws -> HTTPRequest {
        guard case .unsigned(.request(let message), let finish) = draft else {
            throw TenonError(.serviceStep, message: "not a request that is signed")
        }
        return try finish(try await key.signature(for: .request(message)))
    }

    private func check(_ request: HTTPRequest, _ method: String, _ path: String, _ key: PublicKey) throws {
        #expect(request.method == method)
        let six = ["X-App-ID", "X-Device-ID", "X-Synheart-Signature", "X-Synheart-Timestamp", "X-Synheart-Nonce"]
        let values = (six + ["X-Synheart-Sig-Version"]).map { request.headers.value($0) }
        #expect(values.enumerated().allSatisfy { $0.offset == 2 || $0.element != nil })
        #expect(values[0] == "app_1")
        #expect(values[1] == "dev_1")
        #expect(values[3] == Self.stamp.timestamp)
        #expect(values[4] == Self.stamp.nonce)
        #expect(values[5] == "1")
        #expect(request.headers.count == 6 + Self.plain(method == "POST").count)
        var message = try RequestMessage(method: method, path: path, timestamp: Self.stamp.timestamp)
        try message.update(request.body)
        let signature = try Signature(derRepresentation: TextEncoding.base64.decode(values[2] ?? ""))
        #expect(try key.isValidSignature(signature, for: message.finish()))
    }
}

extension [(name: String, value: String)] {
    func value(_ name: String) -> String? {
        let values = filter { $0.name == name }
        return values.count == 1 ? values[0].value : nil
    }
}
