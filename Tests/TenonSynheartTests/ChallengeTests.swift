// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonSynheart
import Testing

@Suite struct ChallengeTests {
    static let text = challengeText

    static func wrapped(_ member: String) -> String { "{\"challenge\":\"\(text)\",\(member)}" }

    /// As in docs/synheart.md: the union of the documented members and those that are sent.
    static let accepted: [(body: String, life: Duration?)] =
        [
            "{\"challenge\":\"\(text)\"}", "{\"challenge_nonce\":\"\(text)\"}", "{\"challenge_id\":\"\(text)\"}",
            "{\"challenge\":null,\"challenge_nonce\":\"\(text)\"}", "{\"challenge\":\"\(text)\",\"challenge_id\":17}",
            "{\"success\":true,\"data\":{\"challenge\":\"\(text)\"}}", "{\"data\":{\"challenge\":\"\(text)\"}}",
            "{\"data\":null,\"success\":null,\"challenge\":\"\(text)\"}", "{\"error\":null,\"challenge\":\"\(text)\"}",
            "{\"error\":false,\"error_code\":\"\",\"challenge\":\"\(text)\"}",
            "{\"code\":200,\"message\":\"OK\",\"challenge\":\"\(text)\"}", wrapped("\"expires_at\":\"soon\""),
            wrapped("\"expires_at\":\"2026-11-21T16:00:40\""), wrapped("\"expires_at\":1795276840"),
        ].map { ($0, nil) } + [
            (wrapped("\"ttl_seconds\":30"), .seconds(30)), (wrapped("\"expires_in\":30"), .seconds(30)),
            (wrapped("\"ttl_seconds\":30,\"expires_in\":60"), .seconds(30)),
            (wrapped("\"ttl_seconds\":\"30\",\"expires_in\":60"), .seconds(60)),
            (wrapped("\"ttl_seconds\":0"), .zero), (wrapped("\"ttl_seconds\":-5"), .zero),
            (wrapped("\"ttl_seconds\":0.5"), .milliseconds(500)),
            (wrapped("\"ttl_seconds\":1e300"), .seconds(86_400)),
            (wrapped("\"ttl_seconds\":null,\"expires_at\":\"2026-11-21T16:00:40Z\""), .seconds(40)),
            (wrapped("\"expires_at\":\"2026-11-21T16:00:40.250Z\""), .milliseconds(40_250)),
            (wrapped("\"expires_at\":\"2026-11-21T17:00:40+01:00\""), .seconds(40)),
            (wrapped("\"expires_at\":\"2026-11-21T15:59:59Z\""), .zero),
            (wrapped("\"expires_at\":\"2026-11-21T15:00:00Z\",\"expires_in\":9"), .seconds(9)),
        ]

    @Test(arguments: accepted)
    func isTaken(_ row: (body: String, life: Duration?)) throws {
        let challenge = try #require(try service().challenge(in: answer(200, row.body)).value)
        #expect(challenge.text == Self.text)
        #expect(challenge.life == row.life)
        #expect(challenge.credential == nil)
    }

    /// W7: a date that cannot be read or compared does not mean an endless life; the cap applies.
    @Test func w7WithoutTheServersClockADateSaysNothing() throws {
        let body = Self.wrapped("\"expires_at\":\"2099-01-01T00:00:00Z\"")
        let challenge = try service().challenge(in: answer(200, body, date: nil)).value
        #expect(challenge?.text == Self.text)
        #expect(challenge?.life == nil)
        #expect(try service().declaration.challenge?.longestLife == .seconds(90))
    }

    static let forms = [
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
        "-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_",
        "-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_8=",
        "+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/8=",
        String(repeating: "A", count: 1024),
    ]

    @Test(arguments: forms)
    func eitherAlphabetIsTaken(_ text: String) throws {
        #expect(try service().challenge(in: answer(200, "{\"challenge\":\"\(text)\"}")).value?.text == text)
    }

    static let weak = [
        shortText, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg", "A", "AAAA", "=", "not-base64!",
        String(repeating: "=", count: 64), String(repeating: "A", count: 43) + "===",
        "9b2d1f6e-0c3a-4b5d-8e7f-001122334455", String(repeating: "A", count: 44) + "=" + "A",
        String(repeating: "A", count: 42) + "B",
    ]

    /// S0: at least 32 bytes; a shorter one may be guessed.
    @Test(arguments: weak)
    func aWeakChallengeIsRefused(_ text: String) throws {
        let read = try service().challenge(in: answer(200, "{\"challenge\":\"\(text)\"}"))
        #expect(Outcome(read) == .refused(nil))
        #expect(read.error?.code == .challengeForm)
    }

    static let malformed = [
        "", "null", "[]", "17", "\"\(text)\"", "{}", "{\"challenge\":null}", "{\"challenge\":17}", "{\"challenge\":[]}",
        "{\"challenge\":17,\"challenge_nonce\":\"\(text)\"}", "{\"challenge\":\"\"}",
        "{\"challenge\":\"\(text) \"}", "{\"challenge\":\"\(text)\\n\"}", "{\"challenge\":\"\(text)\\u0000\"}",
        "{\"challenge\":\"\(String(repeating: "A", count: 1025))\"}", "{\"challenge\":\"é\(text)\"}",
        "{\"challenge\":\"\(text)\",\"challenge\":\"\(text)\"}", "{\"challenge\":\"\(text)\"",
        "{\"challenge\":\"\(text)\"}x",
        "{\"success\":1,\"challenge\":\"\(text)\"}", "{\"success\":\"true\",\"challenge\":\"\(text)\"}",
        "{\"success\":false,\"challenge\":\"\(text)\"}", "{\"data\":[],\"challenge\":\"\(text)\"}",
        "{\"data\":\"\(text)\"}", "{\"data\":{\"data\":{\"challenge\":\"\(text)\"}}}",
        "{\"error\":{},\"challenge\":\"\(text)\"}", "{\"error\":\"X\",\"challenge\":\"\(text)\"}",
        "{\"error\":true,\"challenge\":\"\(text)\"}", "{\"error_code\":\"X\",\"challenge\":\"\(text)\"}",
        wrapped("\"activation\":1"), wrapped("\"activation\":{}"), wrapped("\"activation\":{\"credential\":\"AAEA\"}"),
        wrapped("\"activation\":{\"credential\":\"AAEA\",\"secret\":\"AAIA\"}"),
        wrapped("\"activation\":{\"credential\":\"AAEA\",\"secret\":\"AAA=\"}"),
        wrapped("\"activation\":{\"credential\":\"AAEA\",\"secret\":\"AA==\"}"),
        wrapped("\"activation\":{\"credential\":\"AAEA\",\"secret\":\"AAEAAA==\"}"),
        wrapped("\"activation\":{\"credential\":\"A!EA\",\"secret\":\"AAEA\"}"),
        "{\"challenge\":\"\(text)\",\"pad\":\"\(String(repeating: "A", count: 65_536))\"}",
    ]

    @Test(arguments: malformed)
    func anythingElseIsUnclear(_ body: String) throws {
        #expect(Outcome(try service().challenge(in: answer(200, body))) == .unclear)
    }

    /// The limit itself is accepted, so the refusals above are due to the length.
    @Test func w28ABodyOf64KiBIsTaken() throws {
        let frame = "{\"challenge\":\"\(Self.text)\",\"pad\":\"\"}".utf8.count
        for (size, outcome) in [(65_536, Outcome.accepted), (65_537, .unclear)] {
            let pad = String(repeating: "A", count: size - frame)
            let body = "{\"challenge\":\"\(Self.text)\",\"pad\":\"\(pad)\"}"
            #expect(Outcome(try service().challenge(in: answer(200, body))) == outcome)
        }
    }

    @Test(arguments: [
        "application/json", "Application/JSON", "application/json; charset=utf-8", " application/json ;x",
    ])
    func jsonGoesByTheseNames(_ type: String) throws {
        let read = try service().challenge(in: answer(200, "{\"challenge\":\"\(Self.text)\"}", type: type))
        #expect(Outcome(read) == .accepted)
    }

    /// Decision: definite-refusal.
    @Test(arguments: [
        nil, "", "text/html", "text/json", "application/json2", "application/problem+json", "application",
    ])
    func whatIsNotJSONSaysNothing(_ type: String?) throws {
        let read = try service().challenge(in: answer(200, "{\"challenge\":\"\(Self.text)\"}", type: type))
        #expect(Outcome(read) == .unclear)
    }

    @Test func twoContentTypesSayNothing() throws {
        let twice = answer(
            200, "{\"challenge\":\"\(Self.text)\"}", headers: [("content-type", "application/json")])
        #expect(Outcome(try service().challenge(in: twice)) == .unclear)
    }

    @Test func theCredentialIsTwoSizedBlobs() throws {
        let body = Self.wrapped("\"activation\":{\"credential\":\"AAMBAgM=\",\"secret\":\"AAEJ\"}")
        let challenge = try #require(try service(.tenon).challenge(in: answer(200, body)).value)
        #expect(challenge.credential == Credential(idObject: [0, 3, 1, 2, 3], encryptedSecret: [0, 1, 9]))
        let none = try service(.tenon).challenge(in: answer(200, Self.wrapped("\"activation\":null")))
        #expect(none.value?.text == Self.text)
        #expect(none.value?.credential == nil)
    }
}
