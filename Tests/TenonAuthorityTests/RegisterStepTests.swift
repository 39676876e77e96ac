// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import Testing

/// Challenges and registrations without a TPM.
@Suite struct RegisterStepTests {
    private var rig: ServiceRig { .current }

    @Test(.service) func aChallenge() async throws {
        let answer = try await rig.post("/auth/v1/device/challenge", ["app_id": "open", "extra": [1]])
        #expect(answer.status == 200)
        #expect(answer.json["ttl_seconds"]?.integer == 90)
        #expect(answer.json["expires_at"]?.string == "2027-01-15T08:11:30Z")
        #expect(answer.json["activation"] == nil)
        let text = try #require(answer.json["challenge"]?.string)
        // 32 are random; then when it was made, and a mark.
        #expect(try TextEncoding.base64.decode(text).count == 56)
        #expect(try await rig.challenge() != text)
        #expect(answer.header("Cache-Control") == "no-store")
    }

    /// Texts that are not challenges of ours.
    @Test(arguments: [
        ("{}", "400 INVALID_REQUEST"), (#"{"app_id":"nobody"}"#, "403 UNKNOWN_APP"),
        (#"{"app_id":7}"#, "400 INVALID_REQUEST"), (#"{"app_id":"open","app_id":"open"}"#, "400 INVALID_REQUEST"),
        (#"{"app_id":"open"}x"#, "400 INVALID_REQUEST"), ("[]", "400 INVALID_REQUEST"), ("", "400 INVALID_REQUEST"),
        (#"{"app_id":"open","ak_public":"AAAA"}"#, "400 INVALID_REQUEST"),
        (#"{"app_id":"open","ek_certificates":["AAAA"]}"#, "400 INVALID_REQUEST"),
        (#"{"app_id":"open","ek_certificates":["AAAA"],"ak_public":"A"}"#, "400 INVALID_REQUEST"),
        (#"{"app_id":"open","ek_certificates":["AAAA"],"ak_public":"AAAA"}"#, "400 INVALID_ATTESTATION"),
        (#"{"app_id":"loose","ek_certificates":["AAAA"],"ak_public":"AAAA"}"#, "400 INVALID_REQUEST"),
    ])
    func challengesThatAreRefused(_ body: String, _ verdict: String) async throws {
        try await ServiceRig.with { rig in
            let answer = await rig.service.ask("POST", "/v1/device/challenge", Array(body.utf8))
            #expect(answer.verdict == verdict)
            #expect(answer.json["server_timestamp"]?.integer == rig.seconds)
            #expect(answer.header("x-server-timestamp") == String(rig.seconds))
            #expect(answer.header("Content-Type") == "application/json")
            #expect(answer.json["message"]?.string?.isEmpty == false)
        }
    }

    @Test(.service) func aRegistration() async throws {
        let key = try SoftwareKey().publicKey
        let answer = try await rig.register(key)
        #expect(answer.verdict == "200" && answer.json["status"]?.string == "registered")
        let id = try #require(answer.json["device_id"]?.string)
        let device = try #require(try await rig.stores.devices.device(app: "open", id: id))
        #expect(device.publicKey == key && device.level == .unattested && device.platform == "linux")
        // The same key under a fresh challenge is the same device (decision: same-key-again).
        #expect(try await rig.register(key).json["device_id"]?.string == id)
        // In another app, the key belongs to no device.
        #expect(try await rig.register(key, app: "loose").verdict == "403 REGISTRATION_REJECTED")
    }

    /// Any outcome spends the challenge.
    @Test(.service) func aChallengeIsGoodOnce() async throws {
        let key = try SoftwareKey().publicKey
        let used = try await rig.challenge()
        #expect(try await rig.register(key, challenge: used).verdict == "200")
        #expect(try await rig.register(key, challenge: used).verdict == "400 INVALID_CHALLENGE")
        let failed = try await rig.challenge()
        var message = try await rig.registration(key, challenge: failed)
        message["public_key"] = "AAAA"
        #expect(try await rig.post("/v1/device/register", .members(message)).verdict == "400 INVALID_REQUEST")
        #expect(try await rig.register(key, challenge: failed).verdict == "400 INVALID_CHALLENGE")
        let late = try await rig.challenge()
        rig.clock.advance(90_000)
        #expect(try await rig.register(key, challenge: late).verdict == "400 CHALLENGE_EXPIRED")
        // It is reported as expired even when no store knows it any more; a foreign challenge never is.
        rig.clock.advance(86_400_000)
        #expect(try await rig.register(key, challenge: late).verdict == "400 CHALLENGE_EXPIRED")
        #expect(try await rig.register(key, challenge: "AAAA").verdict == "400 INVALID_CHALLENGE")
        var digits = Array(late)
        digits[9] = digits[9] == "A" ? "B" : "A"
        #expect(try await rig.register(key, challenge: String(digits)).verdict == "400 INVALID_CHALLENGE")
        let others = try await rig.challenge("loose")
        #expect(try await rig.register(key, app: "open", challenge: others).verdict == "400 INVALID_CHALLENGE")
        #expect(try await rig.register(key, app: "loose", challenge: others).verdict == "400 INVALID_CHALLENGE")
    }

    /// A challenge is redeemed only at the origin that issued it, which is one of ours.
    @Test func origins() async throws {
        try await ServiceRig.with(origins: #"["https://localhost", "https://127.0.0.1:8443"]"#) { rig in
            func post(_ path: String, _ host: String?, _ members: [String: JSON]) async throws -> AuthorityAnswer {
                let body = try JSON.members(members).encoded()
                return await rig.ask(AuthorityRequest(method: "POST", target: path, body: body).with("host", host))
            }
            let key = try SoftwareKey().publicKey
            for (host, verdict) in [
                ("127.0.0.1:8443", "200"), ("LOCALHOST", "400 INVALID_CHALLENGE"),
                ("evil.example", "421 INVALID_REQUEST"), ("127.0.0.1", "421 INVALID_REQUEST"),
                (nil, "421 INVALID_REQUEST"),
            ] {
                let given = try await post("/v1/device/challenge", "127.0.0.1:8443", ["app_id": "open"])
                let challenge = try #require(given.json["challenge"]?.string)
                let message = try await rig.registration(key, challenge: challenge)
                #expect(try await post("/v1/device/register", host, message).verdict == verdict, "\(host ?? "")")
            }
        }
    }

    /// Of any number of clients that redeem one challenge at once, one is registered.
    @Test(.service) func oneOfManyWins() async throws {
        let challenge = try await rig.challenge()
        let verdicts: [String: Int] = try await atOnce(64) { _ in
            try await rig.register(SoftwareKey().publicKey, challenge: challenge).verdict
        }.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        #expect(verdicts == ["200": 1, "400 INVALID_CHALLENGE": 63])
    }

    /// Without a proof, a device is registered only if attestation is not required, or if it is a development build and
    /// the record allows that.
    @Test(.service) func whoMayBeUnattested() async throws {
        func verdict(_ app: String, isDevelopment: Bool) async throws -> String {
            let message = try await rig.registration(SoftwareKey().publicKey, app: app)
            let headers = isDevelopment ? [(name: "x-synheart-dev-mode", value: "true")] : []
            return try await rig.post("/v1/device/register", .members(message), headers: headers).verdict
        }
        for (app, isDevelopment, expected) in [
            ("demo", true, "200"), ("demo", false, "403 INVALID_ATTESTATION"),
            ("strict", true, "403 INVALID_ATTESTATION"), ("strict", false, "403 INVALID_ATTESTATION"),
            // A development build in production is refused (docs/synheart.md).
            ("open", false, "200"), ("open", true, "403 INVALID_ATTESTATION"),
        ] { #expect(try await verdict(app, isDevelopment: isDevelopment) == expected, "\(app) \(isDevelopment)") }
        let levels = try await rig.stores.devices.devices(app: nil, from: nil, limit: 9).devices.map(\.level)
        #expect(levels == [.software, .unattested])
    }

    @Test(.service) func proofsThatAreNone() async throws {
        for (member, value, verdict) in [
            ("proof", "AAAA", "400 INVALID_ATTESTATION"), ("proof", "A", "400 INVALID_ATTESTATION"),
            ("proof", "", "400 INVALID_ATTESTATION"),
            ("activation_proof", "AAAA", "400 INVALID_ATTESTATION"),
            ("public_key", "", "400 INVALID_REQUEST"), ("challenge", "", "400 INVALID_REQUEST"),
            ("platform", String(repeating: "x", count: 65), "400 INVALID_REQUEST"),
            ("platform", "lin\0ux", "400 INVALID_REQUEST"), ("device_local_id", "\0", "400 INVALID_REQUEST"),
        ] {
            var message = try await rig.registration(SoftwareKey().publicKey)
            message[member] = .string(value)
            let answer = try await rig.post("/v1/device/register", .members(message))
            #expect(answer.verdict == verdict, "\(member) \(value)")
        }
        #expect(try await rig.stores.devices.devices(app: nil, from: nil, limit: 9).devices.isEmpty)
    }

    @Test(.service) func whatIsNotHere() async throws {
        func verdict(_ method: String, _ target: String, _ door: AuthorityRequest.Door) async -> String {
            await rig.ask(AuthorityRequest(method: method, target: target), at: door).verdict
        }
        for (method, target, expected) in [
            ("GET", "/v1/device/challenge", "405 METHOD_NOT_ALLOWED"),
            ("POST", "/v1/device/self", "405 METHOD_NOT_ALLOWED"),
            ("POST", "/auth/auth/v1/device/challenge", "404 NOT_FOUND"),
            // Four apps: an attestation CA has to be named.
            ("POST", "/attest", "404 NOT_FOUND"), ("POST", "/ca/open/attest", "400 INVALID_REQUEST"),
            ("GET", "/health", "200"),
        ] { #expect(await verdict(method, target, .public) == expected, "\(target)") }
        // Each listener answers only its own routes (decision: listeners).
        for (target, doors) in [
            ("/v1/revoke", [.public, .internal]), ("/v1/devices", [.public, .internal]),
            ("/auth/v1/device/verify", [.public, .admin]), ("/v1/device/challenge", [.internal, .admin]),
        ] as [(String, [AuthorityRequest.Door])] {
            for door in doors { #expect(await verdict("POST", target, door) == "404 NOT_FOUND") }
        }
        let large = [UInt8](repeating: 0x20, count: 32_769)
        #expect(await rig.service.ask("POST", "/v1/device/challenge", large).verdict == "413 INVALID_REQUEST")
    }

    /// Rates count by address, where an IPv6 /64 is one, and by app. They end with the minute.
    @Test func tooManyRequests() async throws {
        try await ServiceRig.with(limits: #"{"per_address_per_minute": 2, "per_app_per_minute": 3}"#) {
            rig async throws in
            func verdict(_ peer: String) async throws -> String {
                try await rig.service.post("/v1/device/challenge", ["app_id": "open"], peer: peer).verdict
            }
            #expect(try await verdict("2001:db8::1") == "200")
            #expect(try await verdict("2001:db8:0:0:ffff::2") == "200")
            #expect(try await verdict("2001:db8:0::3") == "429 RATE_LIMITED")
            #expect(try await verdict("2001:db8:1::3") == "200")
            #expect(try await verdict("192.0.2.7") == "429 RATE_LIMITED")
            rig.clock.advance(60_000)
            #expect(try await verdict("2001:db8::1") == "200")
        }
    }

    /// Sent from three addresses, because one may have only its share of so few.
    @Test func fullIsRefused() async throws {
        try await ServiceRig.with(limits: #"{"challenges": 2}"#) { rig in
            for (index, verdict) in ["200", "200", "503 UNAVAILABLE"].enumerated() {
                let answer = try await rig.service.post(
                    "/v1/device/challenge", ["app_id": "open"], peer: "192.0.2.\(index + 1)")
                #expect(answer.verdict == verdict)
                #expect((answer.header("Retry-After") != nil) == (answer.status == 503))
            }
        }
    }
}
