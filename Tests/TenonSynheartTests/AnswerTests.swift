// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonSynheart
import Testing

@Suite struct AnswerTests {
    static let request = HTTPRequest(method: "POST", url: "https://api.example.org/")

    enum Registration: Equatable {
        case registered(String)
        case pending, rejected, unclear
        case refused(ServiceVerdict?)
    }

    static func registration(_ body: String, status: Int = 200) throws -> Registration {
        switch try service().registration(in: answer(status, body), to: Self.request) {
        case .accepted(.registered(let deviceID, _)): return .registered(deviceID)
        case .accepted(.pending): return .pending
        case .accepted(.rejected): return .rejected
        case .refused(let refusal): return .refused(refusal.verdict)
        case .later, .unclear: return .unclear
        }
    }

    /// W8: each word has its own branch, and no other word is a success.
    @Test(
        arguments: [
            (#"{"device_id":"d","status":"registered"}"#, .registered("d")),
            (#"{"device_id":"d","status":"success"}"#, .registered("d")),
            (#"{"device_id":"d","status":"ok"}"#, .registered("d")),
            (#"{"device_id":"d","registered":true}"#, .registered("d")),
            (#"{"device_id":"d","registered":true,"status":null}"#, .registered("d")),
            (#"{"device_id":"d","registered":true,"status":"registered"}"#, .registered("d")),
            (#"{"success":true,"data":{"device_id":"dev_1","status":"registered"}}"#, .registered("dev_1")),
            (#"{"device_id":"d","status":"pending"}"#, .pending), (#"{"status":"pending"}"#, .pending),
            (#"{"status":"pending","registered":false}"#, .pending),
            (#"{"device_id":null,"status":"pending"}"#, .pending),
            (#"{"status":"rejected"}"#, .rejected), (#"{"device_id":"d","status":"rejected"}"#, .rejected),
            (#"{"success":true,"data":{"status":"rejected","registered":false}}"#, .rejected),
            (#"{"device_id":"d"}"#, .unclear), (#"{"device_id":"d","status":"failed"}"#, .unclear),
            (#"{"device_id":"d","status":"REGISTERED"}"#, .unclear), (#"{"device_id":"d","status":""}"#, .unclear),
            (#"{"device_id":"d","status":true}"#, .unclear), (#"{"device_id":"d","status":1}"#, .unclear),
            (#"{"device_id":"d","registered":false}"#, .unclear), (#"{"device_id":"d","registered":"true"}"#, .unclear),
            (#"{"device_id":"d","registered":1,"status":"registered"}"#, .unclear),
            (#"{"device_id":"d","status":"registered","registered":false}"#, .unclear),
            (#"{"device_id":"d","status":"pending","registered":true}"#, .unclear),
            (#"{"device_id":"d","status":"rejected","registered":true}"#, .unclear),
            (#"{"device_id":"d","status":"unknown","registered":true}"#, .unclear),
            (#"{"device_id":"d","status":7,"registered":true}"#, .unclear),
            (#"{"status":"registered"}"#, .unclear), (#"{"device_id":null,"status":"registered"}"#, .unclear),
            (#"{"device_id":"","status":"registered"}"#, .unclear),
            (#"{"device_id":7,"status":"registered"}"#, .unclear),
            (#"{"device_id":"a b","status":"registered"}"#, .unclear),
            (#"{"device_id":"a\r\nX: y","status":"registered"}"#, .unclear),
            (#"{"device_id":"a\u0000","status":"registered"}"#, .unclear),
            (#"{"device_id":"é","status":"registered"}"#, .unclear),
            (#"{"device_id":"a\r\nX: y","status":"rejected"}"#, .unclear),
            (#"{"success":false,"device_id":"d","status":"registered"}"#, .unclear),
            (
                #"{"success":false,"error":{"code":"INVALID_CHALLENGE"},"data":{"device_id":"d","status":"registered"}}"#,
                .refused(.challengeSpent)
            ),
            (#"{"code":"INVALID_CHALLENGE","device_id":"d","status":"registered"}"#, .refused(.challengeSpent)),
        ] as [(String, Registration)])
    func w8RegistrationSays(_ body: String, _ said: Registration) throws {
        for status in [200, 201] { #expect(try Self.registration(body, status: status) == said) }
    }

    @Test func aDeviceIDHasAtMost128Bytes() throws {
        for (count, isTaken) in [(128, true), (129, false)] {
            let id = String(repeating: "d", count: count)
            let said = try Self.registration("{\"device_id\":\"\(id)\",\"status\":\"ok\"}")
            #expect(said == (isTaken ? .registered(id) : .unclear))
        }
    }

    /// A success also needs its status.
    @Test(arguments: [100, 199, 300, 302, 400, 404, 500])
    func withoutA2xxNothingIsAccepted(_ status: Int) throws {
        let said = try Self.registration(#"{"device_id":"d","status":"registered"}"#, status: status)
        #expect(said == (400...499 ~= status ? .refused(nil) : .unclear))
    }

    /// Decision: ak-certificate. A certificate that cannot be used costs the next attestation, never the identity.
    @Test(
        arguments: [
            (#"["AQI="]"#, [[1, 2]]), (#"["AQI=","Aw=="]"#, [[1, 2], [3]]), ("[]", []), ("null", []), ("7", []),
            (#""AQI=""#, []), (#"["AQI=",7]"#, []), (#"["AQI"]"#, []), (#"[""]"#, []),
            (#"["AA==","AA==","AA==","AA=="]"#, [[0], [0], [0], [0]]),
            (#"["AA==","AA==","AA==","AA==","AA=="]"#, []),
        ] as [(String, [[UInt8]])])
    func theCertificateIsTakenOrLeft(_ text: String, _ certificates: [[UInt8]]) throws {
        let body = "{\"device_id\":\"d\",\"status\":\"ok\",\"ak_certificate\":\(text)}"
        let value = try service(.tenon).registration(in: answer(200, body), to: Self.request).value
        guard case .registered("d", let taken) = value else {
            Issue.record("not registered")
            return
        }
        #expect(taken == certificates)
    }

    /// W1: all three words promote; any other 2xx is an unknown outcome, never a failure.
    @Test(
        arguments: [
            (#"{"status":"rotated"}"#, .accepted), (#"{"status":"ok"}"#, .accepted),
            (#"{"status":"success"}"#, .accepted),
            (#"{"success":true,"data":{"status":"rotated"}}"#, .accepted),
            (#"{"status":"done"}"#, .unclear), (#"{"status":"Rotated"}"#, .unclear), (#"{"status":true}"#, .unclear),
            ("{}", .unclear), ("", .unclear), (#"{"success":true}"#, .unclear), (#"{"success":false}"#, .unclear),
            (#"{"success":false,"status":"rotated"}"#, .unclear), ("<html>rotated</html>", .unclear),
            (#"{"status":"rotated","error":"x"}"#, .unclear),
            (#"{"status":"rotated","error":"ROTATION_FAILED"}"#, .refused(.rotationRefused)),
        ] as [(String, Outcome)])
    func w1RotationSays(_ body: String, _ outcome: Outcome) throws {
        for status in [200, 202] {
            #expect(Outcome(try service().rotation(in: answer(status, body), to: Self.request)) == outcome)
        }
    }

    @Test(
        arguments: [
            ("1795276800", 1_795_276_800), ("1795276800.25", 1_795_276_800.25), ("1795363201", 1_795_363_201),
            ("null", nil), ("0", nil), ("-1795276800", nil), ("1795276800000", nil), ("1e300", nil),
            ("\"1795276800\"", nil),
        ] as [(String, Double?)])
    func theTimesOfARotation(_ text: String, _ time: Double?) throws {
        for body in [
            "{\"status\":\"rotated\",\"effective_at\":\(text),\"server_timestamp\":\(text)}",
            "{\"status\":\"rotated\",\"effective_at\":\(text),\"timestamp\":\(text)}",
            "{\"data\":{\"status\":\"rotated\",\"effective_at\":\(text)},\"server_timestamp\":\(text)}",
        ] {
            let outcome = try #require(try service().rotation(in: answer(200, body), to: Self.request).value)
            #expect(outcome.effectiveAt == time && outcome.answeredAt == time)
        }
        let plain = answer(200, "{\"status\":\"rotated\",\"effective_at\":\(text)}")
        #expect(try service().rotation(in: plain, to: Self.request).value?.answeredAt == nil)
    }

    @Test func ownAnswerNamesTheKey() throws {
        let key = try SoftwareKey().publicKey
        let other = try SoftwareKey().publicKey
        let body = "{\"device_id\":\"d\",\"key_thumbprint\":\"\(try key.thumbprint)\",\"status\":\"registered\"}"
        let synheart = try service(.tenon)
        #expect(synheart.holding(in: answer(200, body), of: key).value == .held)
        #expect(synheart.holding(in: answer(200, body), of: other).value == .another)
        let revoked = body.replacing("registered", with: "revoked")
        #expect(synheart.holding(in: answer(200, revoked), of: key).value == .revoked)
        for wrong in [body.replacing("registered", with: "x"), body.replacing("key_", with: ""), "{}", ""] {
            #expect(Outcome(synheart.holding(in: answer(200, wrong), of: key)) == .unclear)
        }
        #expect(Outcome(synheart.holding(in: answer(404, "{}"), of: key)) == .refused(nil))
        let refused = synheart.holding(in: answer(401, "{\"code\":\"INVALID_SIGNATURE\"}"), of: key)
        #expect(Outcome(refused) == .refused(.keyRefused))
    }
}
