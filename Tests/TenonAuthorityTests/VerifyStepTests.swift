// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import Testing

/// Requests of backends and of operators.
@Suite struct VerifyStepTests {
    private var rig: ServiceRig { .current }

    private static let authorization = [(name: "Authorization", value: "Bearer \(ServiceRig.token)")]

    /// A request to `/ingest/v1/hsi` as a backend passes it on.
    static func question(
        _ device: TestDevice, at seconds: Int64, _ changes: [String: JSON] = [:]
    ) throws -> JSON {
        let body = Array(#"{"a":1}"#.utf8)
        let request = try device.request("POST", "/v1/hsi", body, at: seconds)
        var headers: [String: JSON] = [:]
        for header in request.headers.dropFirst() { headers[header.name] = .string(header.value) }
        var members: [String: JSON] = [
            "method": "POST", "target": "/ingest/v1/hsi", "host": "api.example", "headers": .members(headers),
            "body": .string(TextEncoding.base64.encode(body)),
        ]
        for (name, value) in changes { members[name] = value.isNull ? nil : value }
        return .members(members)
    }

    static func ask(
        _ rig: ServiceRig, _ question: JSON, _ headers: [(name: String, value: String)]? = nil
    ) async throws -> AuthorityAnswer {
        try await rig.post("/auth/v1/device/verify", question, headers: headers ?? authorization, at: .internal)
    }

    /// The verdict on a fresh request, whose question is changed.
    private func verdict(
        _ rig: ServiceRig, _ device: TestDevice, _ changes: [String: JSON] = [:], ago: Int64 = 0
    ) async throws -> String {
        try await Self.ask(rig, Self.question(device, at: rig.seconds - ago, changes)).verdict
    }

    @Test(.service) func aRequestIsGood() async throws {
        let device = try await rig.device()
        let question = try Self.question(device, at: rig.seconds)
        let answer = try await Self.ask(rig, question)
        #expect(answer.verdict == "200" && answer.header("Cache-Control") == "no-store")
        #expect(answer.json["device_id"]?.string == device.id && answer.json["app_id"]?.string == "open")
        #expect(try answer.json["key_thumbprint"]?.string == device.key.publicKey.thumbprint)
        #expect(answer.json["attestation"]?.string == "unattested")
        #expect(try await Self.ask(rig, question).verdict == "409 NONCE_REPLAY")
        #expect(try await verdict(rig, device, ["host": "API.Example"]) == "200")
    }

    @Test(.service) func byTheDigest() async throws {
        let device = try await rig.device()
        var message = try RequestMessage(method: "POST", path: "/v1/hsi", timestamp: String(rig.seconds))
        try message.update(Array(#"{"a":1}"#.utf8).span)
        let digest = try message.finish()
        let text = JSON.string(TextEncoding.base64.encode(digest.rawRepresentation))
        let other = try JSON.string(TextEncoding.base64.encode(Digest(hashing: []).rawRepresentation))
        for (changes, expected) in [
            (["body": .null, "digest": text], "200"), (["body": .null, "digest": other], "401 INVALID_SIGNATURE"),
            (["digest": text], "400 INVALID_REQUEST"), (["body": .null], "400 INVALID_REQUEST"),
        ] { #expect(try await verdict(rig, device, changes) == expected, "\(changes)") }
    }

    /// A lost answer can be asked for again; another question under its id is refused.
    @Test(.service) func aLostAnswer() async throws {
        let device = try await rig.device()
        let question = try Self.question(device, at: rig.seconds, ["request_id": "1"])
        let first = try await Self.ask(rig, question)
        let second = try await Self.ask(rig, question)
        #expect(first.verdict == "200" && second.verdict == "200" && first.body == second.body)
        #expect(try await verdict(rig, device, ["request_id": "1"]) == "409 REQUEST_ID_REUSED")
        // A refusal is not kept.
        #expect(try await verdict(rig, device, ["request_id": "2"], ago: 400) == "401 CLOCK_SKEW")
        #expect(try await verdict(rig, device, ["request_id": "2"]) == "200")
    }

    @Test(.service) func aLostAnswerOfADeviceThatIsRevoked() async throws {
        let device = try await rig.device()
        let question = try Self.question(device, at: rig.seconds, ["request_id": "1"])
        #expect(try await Self.ask(rig, question).verdict == "200")
        #expect(try await rig.revoke(device).verdict == "200")
        #expect(try await Self.ask(rig, question).verdict == "403 DEVICE_REVOKED")
    }

    @Test(.service) func backendsThatMayNot() async throws {
        let device = try await rig.device()
        let good = try Self.question(device, at: rig.seconds)
        for value in ["", "Bearer", "Bearer x", "Basic \(ServiceRig.token)", "Bearer \(ServiceRig.token) "] {
            #expect(try await Self.ask(rig, good, [("Authorization", value)]).verdict == "401 UNKNOWN_BACKEND")
        }
        #expect(try await Self.ask(rig, good, []).verdict == "401 UNKNOWN_BACKEND")
        #expect(try await verdict(rig, rig.device("loose")) == "403 NOT_ALLOWED")
        for (change, expected) in [
            (["host": .null], "403 NOT_ALLOWED"), (["host": "evil.example"], "403 NOT_ALLOWED"),
            (["target": "/v1/hsi"], "403 NOT_ALLOWED"), (["target": "/ingest"], "403 NOT_ALLOWED"),
            (["target": "/ingestv1/hsi"], "403 NOT_ALLOWED"),
            (["target": "/ingest/v1/hsi?x"], "400 INVALID_REQUEST"), (["method": "post"], "400 INVALID_REQUEST"),
        ] as [([String: JSON], String)] {
            #expect(try await verdict(rig, device, change) == expected, "\(change)")
        }
        // None of these requests used up the nonce.
        #expect(try await Self.ask(rig, good).verdict == "200")
    }

    @Test(.service) func operatorsListDevices() async throws {
        var ids: [String] = []
        for app in ["open", "loose", "open"] { ids.append(try await rig.device(app).id) }
        func page(_ query: String) async -> AuthorityAnswer {
            await rig.service.ask("GET", "/v1/devices" + query, at: .admin)
        }
        func names(_ answer: AuthorityAnswer) -> [String?] {
            answer.json["devices"]?.array?.map { $0["device_id"]?.string } ?? []
        }
        #expect(names(await page("")) == ids)
        #expect(names(await page("?app=open")) == [ids[0], ids[2]])
        #expect(names(await page("?app=%6fpe%6E")) == [ids[0], ids[2]])
        let first = await page("?limit=2")
        #expect(names(first) == Array(ids[..<2]))
        let next = try #require(first.json["next"]?.integer)
        #expect(names(await page("?limit=2&from=\(next)")) == [ids[2]])
        for query in [
            "?app=%", "?app=%6", "?app=%zz", "?app=%ff", "?app=%+6", "?app=%00", "?app=a%00", "?limit=0",
            "?limit=1001", "?limit=x", "?x=1", "?app", "?limit=1&limit=1", "?from=-1",
        ] { #expect(await page(query).verdict == "400 INVALID_REQUEST", "\(query)") }
        let ca = await rig.service.ask("GET", "/v1/ca", at: .admin)
        #expect(ca.json["issuer"]?.string == TextEncoding.base64.encode(rig.keys.issuer.certificate))
    }

    @Test(.service) func operatorsRevoke() async throws {
        let device = try await rig.device()
        let ek = String(repeating: "ab", count: 32)
        for (body, verdict) in [
            (["app_id": "open", "device_id": .string(device.id)], "200"),
            (["app_id": "open", "device_id": .string(device.id)], "200"),
            (["app_id": "open", "device_id": "nobody"], "404 NOT_FOUND"),
            (["device_id": .string(device.id)], "400 INVALID_REQUEST"),
            (["serial": "00112233445566778899aabbccddeeff"], "404 NOT_FOUND"),
            (["serial": "xx"], "400 INVALID_REQUEST"), (["ek_id": .string(ek)], "200"),
            (["ek_id": "00"], "400 INVALID_REQUEST"), ([:], "400 INVALID_REQUEST"),
            (["ek_id": .string(ek), "serial": "00"], "400 INVALID_REQUEST"),
            (["app_id": "open", "device_id": "a\0b"], "400 INVALID_REQUEST"),
            (
                ["ek_id": .string(ek), "reason": .string(String(repeating: "\u{1}", count: 167))],
                "400 INVALID_REQUEST"
            ),
            (["ek_id": .string(ek), "reason": .string(String(repeating: "\u{1}", count: 166))], "200"),
        ] as [([String: JSON], String)] {
            #expect(try await rig.post("/v1/revoke", .members(body), at: .admin).verdict == verdict, "\(body)")
        }
        let hidden = try rig.keys.hidden(Digest(rawRepresentation: TextEncoding.hex.decode(ek)))
        #expect(try await rig.stores.devices.isDenied(ek: hidden))
        for found in [true, false] {
            let answer = try await rig.post("/v1/allow", ["ek_id": .string(ek)], at: .admin)
            #expect(answer.json["found"]?.bool == found)
        }
        #expect(try await !rig.stores.devices.isDenied(ek: hidden))
    }

    /// An answer names at most 50 devices, and says how many there are.
    @Test(.service) func operatorsRevokeManyDevices() async throws {
        var id = ""
        for _ in 0..<51 {
            let registration = try Sample().registration(app: "open", ek: "ek")
            _ = try await rig.stores.devices.register(registration, at: rig.clock.now())
            id = registration.device.id
        }
        for (more, count, next) in [
            (["dry_run": true], 50, 50), (["dry_run": true, "from": 50], 1, nil), ([:], 50, 50),
        ] as [([String: JSON], Int, Int64?)] {
            let body: [String: JSON] = ["app_id": "open", "device_id": .string(id), "compromised": true]
            let answer = try await rig.post("/v1/revoke", .members(body.merging(more) { $1 }), at: .admin)
            #expect(answer.json["devices_in_all"]?.integer == 51 && answer.json["next"]?.integer == next, "\(more)")
            #expect(answer.json["devices"]?.array?.count == count, "\(more)")
        }
    }

    /// Answers are counted by endpoint and code; labels never come from a request.
    @Test(.service) func metrics() async throws {
        _ = try await rig.challenge()
        for target in ["/v1/device/challenge", "/x\"}y", "/"] {
            _ = await rig.ask(AuthorityRequest(method: "POST", target: target))
        }
        #expect(
            await rig.metrics().hasPrefix(
                """
                # HELP tenon_authority_answers_total Answers by endpoint and code; OK means not refused.
                # TYPE tenon_authority_answers_total counter
                tenon_authority_answers_total{endpoint="challenge",code="INVALID_REQUEST"} 1
                tenon_authority_answers_total{endpoint="challenge",code="OK"} 1
                tenon_authority_answers_total{endpoint="other",code="NOT_FOUND"} 2
                # HELP tenon_authority_refusals_total Refusals by endpoint and cause: a rule of the verifier, or a word.
                # TYPE tenon_authority_refusals_total counter
                tenon_authority_refusals_total{endpoint="challenge",cause="invalid_request"} 1
                tenon_authority_refusals_total{endpoint="other",cause="not_found"} 2
                # HELP tenon_authority_retired_key_uses_total Valid signatures by replaced keys: somebody has a copy.
                # TYPE tenon_authority_retired_key_uses_total counter
                tenon_authority_retired_key_uses_total 0

                """))
        #expect(await rig.service.ask("GET", "/metrics").verdict == "404 NOT_FOUND")
    }
}
