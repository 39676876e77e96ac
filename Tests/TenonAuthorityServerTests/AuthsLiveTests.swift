// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

@testable import TenonAuthority
@testable import TenonAuthorityServer

/// Auths on a complete authority, asked over its sockets. Its app is the only one of the service, so it has the paths of
/// the service's documents.
@Suite(.timeLimit(.minutes(1))) struct AuthsLiveTests {
    private static let app = #", {"id": "kel", "service": "auths", "require_attestation": false}"#

    private static func with(_ body: (_ port: Int, _ folder: String) async throws -> Void) async throws {
        try await withAuthority(apps: app, body)
    }

    /// A log and the keys that signed it.
    private struct Identity {
        var log = KeyEventLog()
        let keys: [SoftwareKey]
        let inception: KeyEvent

        init() throws {
            keys = [try SoftwareKey(), try SoftwareKey()]
            let bytes = try KeyEventLog.inception(key: keys[0].publicKey, next: keys[1].publicKey)
            inception = try Self.signed(bytes, by: keys[0])
            try log.append(inception)
        }

        static func signed(_ bytes: [UInt8], by key: SoftwareKey) throws -> KeyEvent {
            try KeyEvent(bytes, signature: key.blockingSignature(for: .event(bytes)).normalised())
        }

        /// A rotation to the next key that commits to a new key each time.
        func rotation() throws -> KeyEvent {
            try Self.signed(log.rotation(to: keys[1].publicKey, next: SoftwareKey().publicKey), by: keys[1])
        }

        var registration: [UInt8] {
            get throws {
                let json: JSON = [
                    "prefix": .string(log.prefix), "did": .string(try log.did),
                    "public_key_hex": .string(
                        TextEncoding.hex.encode(keys[0].publicKey.compressedRepresentation)),
                    "inception_event": .string(String(decoding: inception.bytes, as: UTF8.self)),
                    "attachment": .string(inception.attachment),
                ]
                return try json.encoded()
            }
        }

        var path: String { "/v1/identities/\(log.prefix)/kel" }
    }

    private static func body(_ events: [KeyEvent], padding: Int = 0) throws -> [UInt8] {
        let json: JSON = [
            "events": .array(events.map { .string(String(decoding: $0.bytes, as: UTF8.self)) }),
            "attachments": .array(events.map { .string($0.attachment) }),
        ]
        return try json.encoded() + [UInt8](repeating: 0x20, count: padding)
    }

    private static func get(_ client: RawClient, _ path: String) async -> (status: Int, json: JSON) {
        client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
        return RawClient.parsed(await client.readAnswer())
    }

    /// 32 connections send different rotations with one number at once: one is the rotation of this log for ever.
    @Test func oneOfManyRotationsWins() async throws {
        try await Self.with { port, folder in
            let (identity, client) = (try Identity(), try RawClient(port: port))
            let registered = await client.post("/register", try identity.registration)
            #expect(registered.status == 200 && registered.json["status"]?.string == "registered")
            let bodies = try (0..<32).map { _ in try Self.body([identity.rotation()]) }
            let clients = try bodies.map { (try RawClient(port: port), $0) }
            let answers = await withTaskGroup(of: String.self) { group in
                for (client, body) in clients {
                    group.addTask {
                        let answer = await client.post(identity.path, body)
                        return "\(answer.status) \(answer.json["code"]?.string ?? "")"
                    }
                }
                return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(answers["200 "] == 1 && (answers["409 SEQUENCE_TAKEN"] ?? 0) + 1 == 32, "\(answers)")
            let log = await Self.get(client, identity.path + "?from=1")
            #expect(log.json["sequence"]?.integer == 1 && log.json["events"]?.array?.count == 1)
            let listed = try await Program.run("devices", "--state-dir", folder, "--app", "kel")
            #expect(listed.code == 0 && listed.output.contains(identity.log.prefix))
        }
    }

    /// A message of Auths may have 1 MiB, and no other route takes more than before.
    @Test func largeMessages() async throws {
        try await Self.with { port, _ in
            let identity = try Identity()
            let client = try RawClient(port: port)
            #expect(await client.post("/register", try identity.registration).status == 200)
            let one = try Self.body([identity.inception])
            let largest = try Self.body([identity.inception], padding: 1 << 20 - one.count)
            #expect(await client.post(identity.path, largest).status == 200)
            let another = try RawClient(port: port)
            #expect(await another.post(identity.path, largest + [0x20]).status == 413)
            let third = try RawClient(port: port)
            let body = [UInt8](repeating: 0x20, count: 32_769)
            #expect(await third.post("/v1/device/challenge", body).status == 413)
        }
    }

    /// A revoked identity is an operator's device like all others.
    @Test func anOperatorRevokes() async throws {
        try await Self.with { port, folder in
            let (identity, client) = (try Identity(), try RawClient(port: port))
            #expect(await client.post("/auths/kel/register", try identity.registration).status == 200)
            let ended = try await Program(
                ["revoke", "--state-dir", folder, "--app", "kel", identity.log.prefix]
            ).ended()
            #expect(ended.code == 0)
            let answer = await client.post(identity.path, try Self.body([identity.rotation()]))
            #expect(answer.status == 403 && answer.json["code"]?.string == "DEVICE_REVOKED")
            #expect(await client.post("/api", Array("{}".utf8)).status == 400)
            #expect(await Self.get(client, "/v1/auth/challenge").json["nonce"]?.string != nil)
        }
    }
}
