// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Tenon
import TenonAuthority
import Testing

/// `POST /register` of Auths.
@Suite struct AuthsRegisterTests {
    private var rig: AuthsRig { .current }

    private static let invalid = "400 Invalid inception event"

    @Test(.auths) func anInceptionIsRegisteredOnce() async throws {
        let identity = try TestIdentity()
        for _ in 0..<2 {
            let answer = try await rig.register(identity)
            #expect(answer.status == 200 && answer.body == Array(#"{"status":"registered"}"#.utf8))
        }
        // Another signature of the same event is the same registration.
        let again = try TestIdentity.signed(identity.events[0].bytes, by: identity.key)
        #expect(again != identity.events[0])
        let answer = try await rig.register(identity) { $0["attachment"] = .string(again.attachment) }
        #expect(answer.status == 200)
        let devices = try await rig.stores.devices.devices(app: "kel", from: nil, limit: 10).devices
        #expect(devices.map(\.id) == [identity.log.prefix] && devices.first?.publicKey == identity.key.publicKey)
        #expect(devices.first?.level == .unattested && devices.first?.localID == "A phone")
        let log = await rig.log(of: identity)
        #expect(log.json["attachments"]?.array == [.string(identity.events[0].attachment)])
        // The identity belongs to one app.
        #expect(try await rig.register(identity, app: "second").auths == "403 REGISTRATION_REJECTED")
        #expect(await rig.log(of: identity, app: "second").auths == "404 UNKNOWN_IDENTITY")
    }

    /// Each part that does not belong to a proven inception is refused in the words of the service's documents.
    @Test(.auths) func whatIsNotProvenIsRefused() async throws {
        let (identity, other) = (try TestIdentity(), try TestIdentity())
        let attachment = identity.events[0].attachment
        let legacy = #"{"v":"KERI10JSON","t":"icp","d":"E","i":"E","s":"0","kt":"1","k":["1AAI"],"x":"AA"}"#
        let changes: [(String, String, JSON?)] = [
            ("another prefix", "prefix", .string(other.log.prefix)), ("another DID", "did", .string(other.did)),
            ("another key", "public_key_hex", try other.registration()["public_key_hex"]),
            ("a cut key", "public_key_hex", "02"), ("no signature", "attachment", nil),
            ("an empty signature", "attachment", ""),
            ("another signature", "attachment", .string(other.events[0].attachment)),
            ("a cut signature", "attachment", .string(String(attachment.dropLast()))),
            ("two signatures", "attachment", .string("-AAC" + attachment.dropFirst(4) + attachment.dropFirst(4))),
            ("another event", "inception_event", try other.registration()["inception_event"]),
            ("the legacy form", "inception_event", .string(legacy)), ("no event", "inception_event", ""),
        ]
        for (what, name, value) in changes {
            let answer = try await rig.register(identity) { $0[name] = value }
            #expect(answer.auths == Self.invalid, "\(what)")
            #expect(answer.body == Array(#"{"error":"Invalid inception event"}"#.utf8), "\(what)")
        }
        var rotated = identity
        let rotation = try rotated.rotate()
        let answer = try await rig.register(identity) {
            $0["inception_event"] = .string(String(decoding: rotation.bytes, as: UTF8.self))
            $0["attachment"] = .string(rotation.attachment)
        }
        #expect(answer.auths == Self.invalid)
        #expect(try await rig.stores.devices.devices(app: nil, from: nil, limit: 10).devices.isEmpty)
    }

    @Test(.auths) func aMessageOfAnotherFormIsRefused() async throws {
        let identity = try TestIdentity()
        for (name, value) in [
            ("prefix", nil), ("did", 1), ("public_key_hex", .null), ("inception_event", ["v": "KERI10JSON"]),
            ("device_name", .string(String(repeating: "n", count: 257))),
        ] as [(String, JSON?)] {
            #expect(try await rig.register(identity) { $0[name] = value }.auths == "400 INVALID_REQUEST", "\(name)")
        }
        for body in ["", "[]", "{", #"{"prefix":"a","prefix":"b"}"#] {
            #expect(await rig.ask("POST", "/auths/kel/register", Array(body.utf8)).auths == "400 INVALID_REQUEST")
        }
        let large = [UInt8](repeating: 0x20, count: 1 << 20)
        #expect(await rig.ask("POST", "/auths/kel/register", large).status == 400)
        #expect(await rig.ask("POST", "/auths/kel/register", large + [0x20]).status == 413)
        #expect(await rig.ask("POST", "/auths/kel/none", large).status == 413)
        #expect(await rig.ask("GET", "/auths/kel/register").auths == "405 METHOD_NOT_ALLOWED")
        #expect(await rig.ask("POST", "/auths/open/register").status == 404)
    }

    @Test func quotaApprovalAndRevocation() async throws {
        try await AuthsRig.with(#", "max_identities": 2"#) { rig in
            // Another app has its own limit.
            #expect(try await rig.register(TestIdentity(), app: "second").status == 200)
            let first = try await rig.identity()
            _ = try await rig.identity()
            let third = try TestIdentity()
            #expect(try await rig.register(third).auths == "429 RATE_LIMITED")
            // Nothing of it was stored, and who is registered stays registered.
            #expect(try await rig.stores.devices.device(app: "kel", id: third.log.prefix) == nil)
            #expect(try await rig.register(first).status == 200)
            try await rig.revoke(first)
            #expect(try await rig.register(first).auths == "403 DEVICE_REVOKED")
        }
        try await AuthsRig.with(#", "registration": "approve""#) { rig in
            var identity = try TestIdentity()
            for _ in 0..<2 {
                #expect(try await rig.register(identity).json["status"]?.string == "pending")
            }
            let rotation = try identity.rotate()
            #expect(try await rig.send([rotation], of: identity).auths == "401 NOT_REGISTERED")
            _ = try await rig.stores.devices.decide(.approve, device: identity.log.prefix, reason: "a test")
            #expect(try await rig.register(identity).json["status"]?.string == "registered")
            #expect(try await rig.send([rotation], of: identity).status == 200)
        }
    }

    /// The service's own settings are read, and a mistake is reported with its place.
    @Test func itsSettings() throws {
        _ = try AuthsRig.configuration(#", "audience": "api.example", "bare_signatures": true, "max_events": 5"#)
        for more in [#", "max_events": 0"#, #", "max_log_bytes": 1023"#, #", "audience": """#, #", "dialects": []"#] {
            #expect(throws: TenonError.self, "\(more)") { try AuthsRig.configuration(more) }
        }
        let text = #"{"origins": ["http://127.0.0.1:8420"], "apps": [{"id": "kel", "service": "auths"}]}"#
        let error = #expect(throws: TenonError.self) {
            try Configuration(parsing: Array(text.utf8), services: AuthsRig.services)
        }
        #expect(error?.message.contains("require_attestation must be false") == true)
    }
}
