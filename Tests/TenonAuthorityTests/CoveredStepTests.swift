// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TenonAuthority
import Testing

/// What surrounds the rules of signature version 2: versions, forms, backends, the own endpoints.
@Suite struct CoveredStepTests {
    private var rig: CoveredRig { .current }

    /// A request to the authority itself.
    private static func own(
        _ method: String, _ path: String, _ body: [UInt8] = [], of device: TestDevice, at seconds: Int64
    ) throws -> CoveredDraft {
        try CoveredDraft(device, at: seconds).with { draft in
            (draft.method, draft.authority, draft.path, draft.body) = (method, "127.0.0.1:8420", path, body)
        }
    }

    private static func rotation(
        of device: TestDevice, to key: PublicKey, versions: [Int64]?, at seconds: Int64
    ) throws -> CoveredDraft {
        var members: [String: JSON] = [
            "app_id": .string(device.app), "device_id": .string(device.id),
            "new_public_key": .string(TextEncoding.base64.encode(key.derRepresentation)),
        ]
        members["sig_versions"] = versions.map { .array($0.map(JSON.integer)) }
        return try own("POST", "/v1/device/rotate-key", JSON.members(members).encoded(), of: device, at: seconds)
    }

    private static func versions(_ answer: AuthorityAnswer) -> [Int64]? {
        answer.json["signing"]?["versions"]?.array?.compactMap(\.integer)
    }

    @Test(.covered) func theAnnouncement() async throws {
        let draft = try Self.own("GET", "/v1/device/self", of: rig.device, at: rig.seconds)
        let answer = await rig.rig.ask(try rig.device.plain(draft).request())
        let expected: JSON = [
            "versions": [1, 2], "forms": ["tenon", "tenon-batch"], "batch_max": 1_024,
            "hosts": ["api.example", "other.example:8443"],
        ]
        #expect(answer.verdict == "200" && answer.json["signing"] == expected)
        for (app, named, versions, forms) in [
            ("open", nil, [1], 2), ("open", [2], [2], 2), ("open", [7, 2, 1], [1, 2], 2), ("one", [1, 2], [1], 0),
            ("single", [1, 2], [1, 2], 1), ("two", [1, 2], [2], 2),
        ] as [(String, [Int64]?, [Int64], Int)] {
            var members = try await rig.rig.registration(SoftwareKey().publicKey, app: app)
            members["sig_versions"] = named.map { .array($0.map(JSON.integer)) }
            let answer = try await rig.rig.post("/v1/device/register", .members(members))
            #expect(Self.versions(answer) == versions, "\(app)")
            #expect(answer.json["signing"]?["forms"]?.array?.count == forms, "\(app)")
            // No backend may ask about `two`.
            #expect(answer.json["signing"]?["hosts"]?.array?.count == (app == "two" ? 0 : 2), "\(app)")
        }
        let hosts = await rig.rig.ask(try rig.device.request("GET", "/v1/device/self", at: rig.seconds))
        #expect(hosts.json["signing"] == expected)
    }

    @Test(.covered) func versionsThatAreNone() async throws {
        for (app, versions) in [
            ("open", "2"), ("open", []), ("open", [3]), ("open", [1, 1]), ("open", ["1"]), ("one", [2]),
            ("two", [1]),
            ("open", [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ] as [(String, JSON)] {
            var members = try await rig.rig.registration(SoftwareKey().publicKey, app: app)
            members["sig_versions"] = versions
            let answer = try await rig.rig.post("/v1/device/register", .members(members))
            #expect(answer.verdict == "400 INVALID_REQUEST", "\(app) \(versions)")
        }
    }

    /// Anybody can send a public key again: without a TPM's word that changes nothing.
    @Test(.covered) func aRepeatedRegistrationChangesNoVersions() async throws {
        var members = try await rig.rig.registration(rig.device.key.publicKey)
        members["sig_versions"] = [1]
        let answer = try await rig.rig.post("/v1/device/register", .members(members))
        #expect(answer.json["device_id"]?.string == rig.device.id && Self.versions(answer) == [1, 2])
    }

    /// A request has one version, and a device signs only with those that it registered.
    @Test(.covered) func theVersionsOfADevice() async throws {
        for (app, registered, first, second) in [
            ("open", [1], "200", "400 SIGNATURE_FORM"), ("open", [1, 2], "200", "200"),
            ("open", [2], "400 INVALID_REQUEST", "200"), ("one", [1, 2], "200", "400 SIGNATURE_FORM"),
            ("two", [1, 2], "400 INVALID_REQUEST", "200"),
        ] as [(String, [Int64], String, String)] {
            let device = try await rig.rig.device(app, versions: registered)
            let draft = try Self.own("GET", "/v1/echo", of: device, at: rig.seconds)
            let request = try device.request("GET", "/v1/echo", at: rig.seconds)
            #expect(await rig.rig.ask(request).verdict == first, "\(app) \(registered)")
            let answer = await rig.rig.ask(try device.plain(draft).request())
            #expect(answer.verdict == second, "\(app) \(registered)")
            if answer.status != 200 { #expect(answer.json["forms"] == []) }
        }
        let signed = try rig.device.plain(Self.own("GET", "/v1/echo", of: rig.device, at: rig.seconds)).request()
        var both = try rig.device.request("GET", "/v1/echo", at: rig.seconds)
        both.headers += signed.headers.filter {
            ["Signature-Input", "Signature", "Content-Digest"].contains($0.name)
        }
        #expect(await rig.rig.ask(both).verdict == "400 INVALID_REQUEST")
        #expect(await rig.rig.ask(both.with("X-Synheart-Sig-Version", "2")).verdict == "400 INVALID_REQUEST")
    }

    @Test(.covered) func formsThatAreNotTaken() async throws {
        let device = try await rig.rig.device("single", versions: [1, 2])
        let draft = try Self.own("GET", "/v1/echo", of: device, at: rig.seconds)
        let answer = await rig.rig.ask(try device.batch([draft])[0].request())
        #expect(answer.verdict == "400 SIGNATURE_FORM" && answer.json["forms"] == ["tenon"])
        #expect(answer.header("x-synheart-error") == "SIGNATURE_FORM")
        #expect(await rig.rig.ask(try device.plain(draft).request()).verdict == "200")
        // The endpoints that decide about keys.
        let own = try Self.own("GET", "/v1/device/self", of: rig.device, at: rig.seconds)
        let refused = await rig.rig.ask(try rig.device.batch([own])[0].request())
        #expect(refused.verdict == "400 SIGNATURE_FORM" && refused.json["forms"] == ["tenon"])
        #expect(await rig.rig.ask(try rig.device.plain(own).request()).verdict == "200")
    }

    /// The authority answers to its origin, whatever a proxy writes into Host.
    @Test(.covered) func theAuthorityAsHost() async throws {
        for (host, verdict) in [("127.0.0.1:8420", "200"), ("api.example", "401 INVALID_SIGNATURE")] {
            let draft = try Self.own("GET", "/v1/echo", of: rig.device, at: rig.seconds).with {
                $0.authority = host
            }
            #expect(await rig.rig.ask(try rig.device.plain(draft).request()).verdict == verdict)
        }
    }

    /// A rotation signed in version 2, after which former keys and known roots are worth nothing.
    @Test(.covered) func aRotation() async throws {
        let (device, batch) = (rig.device, try rig.batch(8))
        #expect(try await rig.ask(batch[0]) == "200")
        var next = device
        next.key = try SoftwareKey(signsDigests: true)
        let rotation = try Self.rotation(of: device, to: next.key.publicKey, versions: [2], at: rig.seconds)
        let answer = await rig.rig.ask(try device.plain(rotation).request())
        #expect(answer.verdict == "200" && Self.versions(answer) == [2])
        #expect(try await rig.ask(batch[1]) == "INVALID_SIGNATURE signing_rule_19")
        #expect(try await rig.metric("known_root_requests_total") == 0)
        // The former key settles the rotation, and nothing else.
        let own = try Self.own("GET", "/v1/device/self", of: device, at: rig.seconds)
        #expect(await rig.rig.ask(try device.plain(own).request()).verdict == "200")
        #expect(await rig.rig.ask(try next.request("GET", "/v1/echo", at: rig.seconds)).status == 400)
        #expect(try await rig.ask(next.batch(2, at: rig.seconds)[1]) == "200")
        rig.rig.clock.advance(700_000)
        #expect(try await rig.metric("retired_key_uses_total") == 0)
        #expect(try await rig.ask(device.batch(2, at: rig.seconds)[0]) == "INVALID_SIGNATURE signing_rule_19")
        #expect(try await rig.metric("retired_key_uses_total") == 1)
        let forged = try device.batch(1, at: rig.seconds)[0].with { $0.bytes[3] ^= 1 }
        #expect(try await rig.ask(forged) == "INVALID_SIGNATURE signing_rule_19")
        #expect(try await rig.metric("retired_key_uses_total") == 1)
    }

    /// Of two former keys only the last one settles a rotation.
    @Test(.covered) func twoRotations() async throws {
        var keys = [rig.device]
        for _ in 0..<2 {
            var next = keys[0]
            next.key = try SoftwareKey(signsDigests: true)
            let draft = try Self.rotation(of: keys[0], to: next.key.publicKey, versions: [2], at: rig.seconds)
            #expect(await rig.rig.ask(try keys[0].plain(draft).request()).verdict == "200")
            keys.insert(next, at: 0)
        }
        for (device, verdict) in zip(keys, ["200", "200", "401 INVALID_SIGNATURE"]) {
            let own = try Self.own("GET", "/v1/device/self", of: device, at: rig.seconds)
            #expect(await rig.rig.ask(try device.plain(own).request()).verdict == verdict)
        }
    }

    /// A known root helps nobody once the device has left version 2 or was revoked.
    @Test func aKnownRootIsNoVerdict() async throws {
        try await CoveredRig.with { rig in
            let batch = try rig.batch(8)
            let second = rig.rig.service(on: rig.rig.stores)
            for (index, service) in [rig.rig.service, second].enumerated() {
                #expect(try await rig.ask(batch[index * 2], on: service) == "200")
                #expect(try await rig.ask(batch[index * 2 + 1], on: service) == "200")
                #expect(try await rig.metric("known_root_requests_total", on: service) == 1)
                #expect(try await rig.ask(batch[0], on: service) == "NONCE_REPLAY nonce_replay")
            }
            #expect(try await rig.rig.revoke(rig.device).verdict == "200")
            for service in [second, rig.rig.service] {
                #expect(try await rig.ask(batch[5], on: service) == "DEVICE_REVOKED device_revoked")
            }
        }
        try await CoveredRig.with { rig in
            let batch = try rig.batch(2)
            #expect(try await rig.ask(batch[0]) == "200")
            let key = try SoftwareKey().publicKey
            let rotation = try Self.rotation(of: rig.device, to: key, versions: [1], at: rig.seconds)
            #expect(await rig.rig.ask(try rig.device.plain(rotation).request()).verdict == "200")
            #expect(try await rig.ask(batch[1]) == "SIGNATURE_FORM signing_rule_16")
        }
    }

    /// One verification serves a batch; requests that arrive at the same time cost at most one for each thread.
    @Test(.covered) func oneVerificationForABatch() async throws {
        for index in 0..<32 { #expect(try await rig.ask(rig.batch(64)[index]) == "200") }
        #expect(try await rig.metric("signature_verifications_total") == 32)
        #expect(try await rig.metric("known_root_requests_total") == 0)
        let batch = try rig.batch(256)
        for index in 0..<32 { #expect(try await rig.ask(batch[index]) == "200") }
        #expect(try await rig.metric("signature_verifications_total") == 33)
        #expect(try await rig.metric("known_root_requests_total") == 31)
        #expect(try await rig.metric("batch_requests_sum") == 32 * 64 + 256)
        #expect(try await rig.metric(#"batch_requests_bucket{le="64"}"#) == 32)
        rig.rig.clock.advance(1_000)
        let questions = try batch[32...].map { try $0.question() }
        let service = rig.rig.service(on: rig.rig.stores)
        let answers = try await atOnce(questions.count) { index in
            try await CoveredRig.send(questions[index], to: service).status
        }
        #expect(answers.allSatisfy { $0 == 200 })
        let (verified, known) = (
            try await rig.metric("signature_verifications_total", on: service),
            try await rig.metric("known_root_requests_total", on: service)
        )
        let threads = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        #expect(verified + known == questions.count && verified <= threads, "\(verified) of \(threads)")
    }

    @Test(.covered) func backends() async throws {
        let batch = try rig.batch(8)
        // A backend whose record has no hosts has no name in version 2.
        let answer = try await CoveredRig.send(
            batch[0].question(), to: rig.rig.service, token: ServiceRig.otherToken)
        #expect(answer.verdict == "403 NOT_ALLOWED")
        for (more, expected) in [
            (["host": .null], "NOT_ALLOWED signing_rule_7"),
            (["host": "evil.example"], "NOT_ALLOWED signing_rule_7"),
            (
                ["digest": .string(TextEncoding.base64.encode([UInt8](repeating: 0, count: 32))), "body": .null],
                "INVALID_REQUEST invalid_request"
            ),
            (["body": .null], "INVALID_REQUEST invalid_request"), (["host": "API.example:443"], "200"),
        ] as [([String: JSON], String)] {
            #expect(try await rig.ask(batch[0], more) == expected, "\(more)")
        }
        let digest = try Digest(hashing: batch[1].draft.body).rawRepresentation
        let good: JSON = .string(TextEncoding.base64.encode(digest))
        #expect(try await rig.ask(batch[1], ["body": .null, "body_sha256": good]) == "200")
        #expect(try await rig.ask(batch[2], ["body_sha256": good]) == "INVALID_REQUEST invalid_request")
        let outside = try rig.batch(1) { $0.path = "/v1/hsi" }
        #expect(try await rig.ask(outside[0]) == "NOT_ALLOWED not_allowed")
        // A lost answer is asked for again.
        for _ in 0..<2 { #expect(try await rig.ask(batch[3], ["request_id": "1"]) == "200") }
        #expect(try await rig.ask(batch[4], ["request_id": "1"]) == "REQUEST_ID_REUSED request_id_reused")
    }

    /// A store that cannot be asked refuses, and the request is not used up.
    @Test(.covered) func aStoreThatFails() async throws {
        var stores = rig.rig.stores
        stores.replays = BrokenReplays()
        let (broken, batch) = (rig.rig.service(on: stores), try rig.batch(2))
        for signed in batch { #expect(try await rig.ask(signed, on: broken) == "UNAVAILABLE unavailable") }
        for signed in batch { #expect(try await rig.ask(signed) == "200") }
    }
}
