// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonSynheart
import Testing

/// Answers that are not a success: judged by their code first, and by their status second (docs/synheart.md).
@Suite struct FailureTests {
    static let shapes = [
        "{\"error_code\":\"CLOCK_SKEW\",\"error_description\":\"x\",\"server_timestamp\":1795276800}",
        "{\"code\":\"CLOCK_SKEW\",\"message\":\"x\",\"server_timestamp\":1795276800}",
        "{\"error\":\"CLOCK_SKEW\",\"message\":\"x\",\"server_timestamp\":1795276800.0}",
        "{\"error\":\"unauthorized\",\"code\":\"CLOCK_SKEW\",\"server_timestamp\":1795276800}",
        "{\"code\":401,\"error\":{\"code\":\"CLOCK_SKEW\",\"server_timestamp\":1795276800}}",
        "{\"success\":false,\"error\":{\"code\":\"CLOCK_SKEW\",\"message\":\"x\",\"server_timestamp\":1795276800}}",
        "{\"success\":false,\"error\":{\"error_code\":\"CLOCK_SKEW\"},\"server_timestamp\":1795276800}",
        "{\"success\":false,\"data\":{\"code\":\"CLOCK_SKEW\",\"server_timestamp\":1795276800}}",
        "{\"data\":{\"error\":{\"code\":\"CLOCK_SKEW\",\"server_timestamp\":1795276800}}}",
        "{\"detail\":{\"error_code\":\"CLOCK_SKEW\",\"server_timestamp\":1795276800}}",
        "{\"code\":\"E_401\",\"error\":{\"code\":\"CLOCK_SKEW\"},\"server_timestamp\":1795276800}",
        "{\"error_code\":\"E_401\",\"code\":\"CLOCK_SKEW\",\"server_timestamp\":1795276800}",
        "{\"detail\":\"CLOCK_SKEW\",\"server_timestamp\":1795276800}",
    ]

    @Test(arguments: shapes)
    func theCodeIsFoundInEachShape(_ body: String) throws {
        for status in [400, 401, 200, 500] {
            let read = try service().registration(in: answer(status, body), to: request)
            #expect(Outcome(read) == .refused(.clockSkew))
            #expect(read.refusal?.serverTime == 1_795_276_800)
            #expect(read.error?.serverCode == "CLOCK_SKEW")
            #expect(read.error?.httpStatus == status)
        }
    }

    static let codes: [(code: String, verdict: ServiceVerdict?, ours: TenonError.Code)] = [
        ("CHALLENGE_EXPIRED", .challengeSpent, .challengeExpired),
        ("INVALID_CHALLENGE", .challengeSpent, .challengeExpired),
        ("INVALID_ATTESTATION", .attestationRefused, .attestationFailed),
        ("ATTESTATION_FAILED", .attestationFailed, .attestationFailed),
        ("REGISTRATION_REJECTED", .rejected, .registrationRejected), ("DEVICE_REVOKED", .revoked, .deviceRevoked),
        ("NOT_REGISTERED", .keyRefused, .keyRefused), ("INVALID_SIGNATURE", .keyRefused, .keyRefused),
        ("CLOCK_SKEW", .clockSkew, .clockSkew), ("KEY_EXPIRED", .keyExpired, .keyExpired),
        ("NONCE_REPLAY", .nonceReplay, .nonceReplay),
        ("ROTATION_FAILED", .rotationRefused, .rotationFailed),
        // Decision: definite-refusal. A service's word about a key never affects the key itself.
        ("KEY_INVALIDATED", nil, .serviceRefused), ("DEV_001", nil, .serviceRefused),
        ("device_revoked", nil, .serviceRefused), ("DEVICE_REVOKED ", nil, .serviceRefused),
    ]

    @Test(arguments: codes)
    func aCodeMeans(_ row: (code: String, verdict: ServiceVerdict?, ours: TenonError.Code)) throws {
        let read = try service().registration(in: answer(403, "{\"code\":\"\(row.code)\"}"), to: request)
        #expect(Outcome(read) == .refused(row.verdict))
        #expect(read.error?.code == row.ours)
    }

    /// W6: by status, never by the text of a code; 4xx is definite.
    @Test(
        arguments: [
            (400, .refused(nil)), (401, .refused(nil)), (403, .refused(nil)), (404, .refused(nil)),
            (409, .refused(nil)),
            (413, .refused(nil)), (422, .refused(nil)), (408, .later), (425, .later), (429, .later), (500, .later),
            (502, .later), (503, .later), (504, .later), (599, .later), (200, .unclear), (201, .unclear),
            (204, .unclear),
            (301, .unclear), (302, .unclear), (307, .unclear), (304, .unclear),
        ] as [(Int, Outcome)])
    func w6AStatusMeans(_ status: Int, _ outcome: Outcome) throws {
        for body in ["", "{}", "{\"code\":\"4001\"}", "{\"code\":\"500\"}", "<html>", "{\"error\":{\"code\":17}}"] {
            #expect(Outcome(try service().registration(in: answer(status, body), to: request)) == outcome)
            #expect(Outcome(try service().rotation(in: answer(status, body), to: request)) == outcome)
            #expect(Outcome(try service().challenge(in: answer(status, body, type: "text/html"))) == outcome)
        }
    }

    /// A code that ends an identity, or names another key, is believed only in a permanent refusal.
    @Test(arguments: ["DEVICE_REVOKED", "REGISTRATION_REJECTED", "NOT_REGISTERED", "INVALID_SIGNATURE"])
    func aCodeEndsNothingOutsideADefiniteRefusal(_ code: String) throws {
        let body = "{\"code\":\"\(code)\"}"
        let outcomes: [(Int, Outcome)] = [
            (200, .unclear), (201, .unclear), (302, .unclear), (304, .unclear), (408, .later), (425, .later),
            (429, .later), (500, .later), (502, .later), (503, .later),
        ]
        for (status, outcome) in outcomes {
            let header = answer(status, "{}", headers: [("X-Synheart-Error", code)])
            for answer in [answer(status, body), header] {
                #expect(Outcome(try service().rotation(in: answer, to: request)) == outcome, "\(status)")
                #expect(Outcome(try service().registration(in: answer, to: request)) == outcome, "\(status)")
                let holding = try service(.tenon).holding(in: answer, of: SoftwareKey().publicKey)
                #expect(Outcome(holding) == outcome, "\(status)")
                #expect(try service().refusal(in: answer)?.verdict == nil, "\(status)")
            }
            let error = try #require(try service().rotation(in: answer(status, body), to: request).error)
            #expect(error.serverCode == code && error.httpStatus == status)
            #expect([.serviceBusy, .serviceAnswer].contains(error.code), "\(status): \(error.code)")
        }
        for status in [400, 401, 403, 404, 409, 410] {
            let refusal = try service().rotation(in: answer(status, body), to: request).refusal
            #expect(refusal?.verdict == Self.codes.first { $0.code == code }?.verdict, "\(status)")
        }
    }

    /// Decision: definite-refusal. A known code changes a state only if it comes in JSON.
    @Test(arguments: ["text/html", "text/plain", "application/problem+json", ""])
    func outsideJSONACodeHasNoForce(_ type: String) throws {
        let body = "{\"code\":\"DEVICE_REVOKED\"}"
        let headers = [(name: "X-Synheart-Error", value: "DEVICE_REVOKED")]
        let read = try service().rotation(in: answer(403, body, type: type, headers: headers), to: request)
        #expect(Outcome(read) == .refused(nil))
        let success = try service().rotation(in: answer(200, body, type: type, headers: headers), to: request)
        #expect(Outcome(success) == .unclear)
    }

    /// The form of the core's provider: headers may contain what the body lacks.
    @Test func codeAndTimeMayStandInHeaders() throws {
        let headers = [(name: "x-synheart-error", value: "CLOCK_SKEW"), ("X-Server-Timestamp", "1795276801")]
        for body in ["", "{}", "{\"code\":\"OTHER\"}"] {
            let refusal = try service().rotation(in: answer(401, body, headers: headers), to: request).refusal
            #expect(refusal?.verdict == .clockSkew)
            #expect(refusal?.serverTime == 1_795_276_801)
        }
        let body = "{\"code\":\"DEVICE_REVOKED\",\"server_timestamp\":5}"
        let refusal = try service().rotation(in: answer(401, body, headers: headers), to: request).refusal
        #expect(refusal?.verdict == .revoked)
        #expect(refusal?.serverTime == 5)
        let twice = headers + [(name: "X-Synheart-Error", value: "NONCE_REPLAY")]
        #expect(Outcome(try service().rotation(in: answer(401, "{}", headers: twice), to: request)) == .refused(nil))
    }

    @Test(arguments: ["", "1795276801.5", "-1795276801", "1e9", "99999999999999999999", "soon"])
    func aTimeThatIsNoneIsNotTaken(_ text: String) throws {
        let headers = [(name: "X-Synheart-Error", value: "CLOCK_SKEW"), ("X-Server-Timestamp", text)]
        let refusal = try service().rotation(in: answer(401, "{}", headers: headers), to: request).refusal
        #expect(refusal?.verdict == .clockSkew)
        #expect(refusal?.serverTime == nil)
    }

    /// W19: the cause of an error is kept.
    @Test func w19StatusCodeAndWaitAreKept() throws {
        let read = try service().registration(
            in: answer(429, "{\"error\":{\"code\":\"RATE_LIMITED\"}}", headers: [("Retry-After", "7")]), to: request)
        #expect(Outcome(read) == .later)
        #expect(read.error?.httpStatus == 429)
        #expect(read.error?.serverCode == "RATE_LIMITED")
        #expect(read.error?.retryAfter == .seconds(7))
    }

    /// A service's text never becomes part of a text for people.
    @Test func theMessageHoldsNothingOfTheAnswer() throws {
        let body = "{\"code\":\"hunter2\",\"message\":\"hunter2 hunter2\",\"detail\":\"hunter2\"}"
        for status in [200, 302, 401, 500] {
            let error = try service().registration(in: answer(status, body), to: request).error
            #expect(error?.message.contains("hunter2") == false)
        }
    }

    /// An application's own service: its word only leads to a question to the auth service.
    @Test func anApplicationsAnswerIsReadAlike() throws {
        let synheart = try service()
        #expect(synheart.refusal(in: answer(401, "{\"code\":\"NONCE_REPLAY\"}"))?.verdict == .nonceReplay)
        #expect(synheart.refusal(in: answer(401, "no"))?.error.httpStatus == 401)
        #expect(synheart.refusal(in: answer(401, "no"))?.verdict == nil)
        #expect(synheart.refusal(in: answer(200, "{\"code\":\"DEVICE_REVOKED\"}")) == nil)
        // A completed action is not repeated because of a word in its answer.
        for code in synheart.declaration.verdicts.keys {
            for status in [200, 201, 299] {
                #expect(synheart.refusal(in: answer(status, "{\"code\":\"\(code)\"}")) == nil)
            }
        }
        #expect(synheart.refusal(in: answer(503, "{}")) == nil)
    }

    let request = HTTPRequest(method: "POST", url: "https://api.example.org/")
}
