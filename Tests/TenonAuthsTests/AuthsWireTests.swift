// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Tenon
import TenonAuths
import Testing

/// What is sent, byte for byte, and what each answer means.
@Suite struct AuthsWireTests {
    static let scalars: [UInt8] = [1, 33, 65]

    /// The keys of Tests/Vectors/auths-kel-p256.json: 0102...20, 2122...40, 4142...60.
    static func key(_ number: Int) throws -> SoftwareKey {
        try SoftwareKey(scalar: (0..<32).map { scalars[number] + $0 }, deterministic: true)
    }

    static let prefix = "EKiCzlm2xHzI6WIBcGlo0zlyQ3cSxtmwpNGES_A0VxAD"
    static let rotated = "EKBO8xVngC-pVQBlDbXXR4d2oIL4ezYE5kpY6p7RTt_x"
    static let device = ServiceDevice(appID: "app", localID: "local", deviceID: prefix)

    private func service() throws -> Auths { try Auths(baseURL: "https://log.example/auths/app/", appID: "app") }

    /// Has the key sign, as the vault does for this service.
    private func sent(_ draft: ServiceDraft, by key: SoftwareKey) async throws -> HTTPRequest {
        guard case .unsigned(let message, let finish) = draft else { throw TenonError(.empty, message: "no draft") }
        return try finish(await key.signature(for: message).normalised())
    }

    private func inception() async throws -> HTTPRequest {
        let keys = try (0..<2).map(Self.key)
        let terms = RegistrationTerms(key: keys[0].publicKey, next: keys[1].publicKey, slot: 0)
        return try await sent(service().registration(Self.device, terms), by: keys[0])
    }

    private func rotation(_ slot: Int64 = 1) async throws -> HTTPRequest {
        let keys = try (0..<3).map(Self.key)
        let terms = RotationTerms(
            current: keys[0].publicKey, new: keys[1].publicKey, following: keys[2].publicKey, slot: slot,
            prior: LogTail(sequence: 0, digest: Self.prefix), stamp: RequestStamp(timestamp: "1", nonce: "n"))
        return try await sent(service().rotation(Self.device, terms), by: keys[1])
    }

    @Test func anInceptionIsSentAsThePageHasItWithItsSignature() async throws {
        let request = try await inception()
        #expect(request.method == "POST" && request.url == "https://log.example/auths/app/register")
        let body = try JSON(parsing: request.body)
        #expect(body["prefix"] == .string(Self.prefix) && body["did"] == .string("did:keri:" + Self.prefix))
        #expect(
            body["public_key_hex"]
                == "02515c3d6eb9e396b904d3feca7f54fdcd0cc1e997bf375dca515ad0a6c3b4035f")
        let event = try #require(body["inception_event"]?.string)
        #expect(event.hasPrefix(#"{"v":"KERI10JSON00012f_","t":"icp","d":"EKiCzlm2xHz"#) && event.utf8.count == 303)
        let attachment = try #require(body["attachment"]?.string)
        #expect(attachment.hasPrefix("-AABAA") && attachment.utf8.count == 92)
        #expect(body["device_name"] == nil)
        var log = KeyEventLog()
        try log.append(KeyEvent(bytes: Array(event.utf8), attachment: attachment))
        #expect(log.prefix == Self.prefix)
    }

    @Test func aRotationFollowsTheLastEvent() async throws {
        let request = try await rotation()
        #expect(request.url == "https://log.example/auths/app/v1/identities/\(Self.prefix)/kel")
        let event = try #require(try JSON(parsing: request.body)["events"]?.array?.first?.string)
        #expect(event.contains(#""d":"\#(Self.rotated)""#) && event.contains(#""s":"1","p":"\#(Self.prefix)""#))
        for slot in [Int64(0), 2] {
            await #expect(throws: TenonError.self) { try await rotation(slot) }
        }
    }

    @Test func aMessageOfTheLogIsFoundInItsRequestAndInItsLine() async throws {
        let profile = try service()
        let first = try #require(try await profile.logEntry(in: inception()))
        let second = try #require(try await profile.logEntry(in: rotation()))
        #expect(first.sequence == 0 && first.digest == Self.prefix)
        #expect(second.sequence == 1 && second.digest == Self.rotated)
        #expect(try profile.logEntry(ofLine: second.line) == second)
        for line in ["", "x", "{}", #"{"s":"-1","d":"\#(Self.prefix)"}"#, #"{"s":"1","d":"x"}"#] {
            #expect(throws: TenonError.self) { try profile.logEntry(ofLine: Array(line.utf8)) }
        }
    }

    /// Only events that prove themselves follow a position.
    @Test func whatIsALog() async throws {
        let profile = try service()
        let (first, second) = (
            try #require(try await profile.logEntry(in: inception())),
            try #require(try await profile.logEntry(in: rotation()))
        )
        let keys = try (0..<3).map { try Self.key($0).publicKey }
        let position = LogPosition(tail: LogTail(first), key: keys[0], next: keys[1])
        #expect(profile.isLog([first, second], of: Self.device, after: nil))
        #expect(profile.isLog([second], of: Self.device, after: position))
        #expect(!profile.isLog([], of: Self.device, after: nil))
        #expect(!profile.isLog([second], of: Self.device, after: nil))
        #expect(!profile.isLog([first, first], of: Self.device, after: nil))
        let other = ServiceDevice(appID: "app", localID: "local", deviceID: Self.rotated)
        #expect(!profile.isLog([first, second], of: other, after: nil))
        let wrongNext = LogPosition(tail: LogTail(first), key: keys[0], next: keys[2])
        #expect(!profile.isLog([second], of: Self.device, after: wrongNext))
        var line = second.line
        line[line.count - 5] ^= 1
        let forged = LogEntry(sequence: 1, digest: second.digest, line: line)
        #expect(!profile.isLog([forged], of: Self.device, after: position))
        let renamed = LogEntry(sequence: 2, digest: second.digest, line: second.line)
        #expect(!profile.isLog([renamed], of: Self.device, after: position))
    }

    private func answer(_ status: Int, _ body: String, _ type: String = "application/json") -> HTTPResponse {
        let moment = FlowTime().moment
        return HTTPResponse(
            status: status, headers: [("Content-Type", type)], body: Array(body.utf8), sent: moment, received: moment)
    }

    private func word<Value>(_ answer: ServiceAnswer<Value>) -> String {
        switch answer {
        case .accepted(let value): "accepted \(value)"
        case .refused(let refusal): "refused \(refusal.verdict.map { "\($0)" } ?? "-")"
        case .later: "later"
        case .unclear: "unclear"
        }
    }

    static let registrations: [(Int, String, String)] = [
        (200, #"{"status":"registered"}"#, "registered"), (201, #"{"status":"registered","x":1}"#, "registered"),
        (200, #"{"status":"pending"}"#, "pending"), (200, "{}", "unclear"), (200, "", "unclear"), (204, "", "unclear"),
        (200, #"{"status":"registered"}x"#, "unclear"), (302, #"{"status":"registered"}"#, "unclear"),
        (400, #"{"error":"Invalid inception event"}"#, "refused -"), (403, #"{"code":"DEVICE_REVOKED"}"#, "refused -"),
        (409, #"{"code":"SEQUENCE_TAKEN"}"#, "refused numberRefused"), (429, #"{"code":"QUOTA_EXCEEDED"}"#, "later"),
        (500, "", "later"), (503, "{}", "later"),
    ]

    @Test(arguments: registrations)
    func answersToARegistration(_ status: Int, _ body: String, _ meaning: String) async throws {
        let outcome = try await service().registration(in: answer(status, body), to: inception())
        #expect(word(outcome).contains(meaning))
        if case .accepted(.registered(let id, _)) = outcome { #expect(id == Self.prefix) }
    }

    static let rotations: [(Int, String, String)] = [
        (200, #"{"status":"accepted","sequence":1}"#, "accepted"), (200, #"{"status":"registered"}"#, "unclear"),
        (200, "", "unclear"), (400, #"{"code":"INVALID_EVENT"}"#, "refused -"),
        (409, #"{"code":"SEQUENCE_TAKEN"}"#, "refused numberRefused"),
        (409, #"{"code":"SEQUENCE_GAP"}"#, "refused numberRefused"), (409, "{}", "refused -"),
        (400, #"{"code":"SEQUENCE_TAKEN"}"#, "refused -"), (404, "{}", "refused -"), (429, "{}", "later"),
        (408, "", "later"),
    ]

    @Test(arguments: rotations)
    func answersToARotation(_ status: Int, _ body: String, _ meaning: String) async throws {
        #expect(word(try await service().rotation(in: answer(status, body), to: rotation())).hasPrefix(meaning))
    }

    /// A page that is no JSON gives no verdict, whatever it says.
    @Test func onlyJSONIsBelieved() async throws {
        let page = answer(409, #"{"code":"SEQUENCE_TAKEN"}"#, "text/html")
        #expect(word(try await service().rotation(in: page, to: rotation())) == "refused -")
    }

    @Test func whatIsNoServiceURL() {
        for url in ["", "http://log.example", "https://log.example/a/../b", "https://log.example/?a=1"] {
            let error = #expect(throws: TenonError.self) { try Auths(baseURL: url, appID: "app") }
            #expect(error?.code == .serviceURL)
        }
        for app in ["", "a b", String(repeating: "a", count: 201)] {
            let error = #expect(throws: TenonError.self) { try Auths(baseURL: "https://log.example", appID: app) }
            #expect(error?.code == .appID)
        }
    }
}
