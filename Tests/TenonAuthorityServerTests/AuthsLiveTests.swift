// SPDX-License-Identifier: Apache-2.0
import FlowParts
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

    private static func path(_ identity: TestIdentity) -> String { "/v1/identities/\(identity.log.prefix)/kel" }

    private static func get(_ client: RawClient, _ path: String) async -> (status: Int, json: JSON) {
        client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
        return RawClient.parsed(await client.readAnswer())
    }

    /// 32 connections send different rotations with one number at once: one is the rotation of this log for ever.
    @Test func oneOfManyRotationsWins() async throws {
        try await Self.with { port, folder in
            let (identity, client) = (try TestIdentity(), try RawClient(port: port))
            let registered = await client.post("/register", try identity.message())
            #expect(registered.status == 200 && registered.json["status"]?.string == "registered")
            let bodies = try (0..<32).map { _ in try KeyEvent.message([identity.other()]) }
            let clients = try bodies.map { (try RawClient(port: port), $0) }
            let answers = try await atOnce(clients) { client, body in
                let answer = await client.post(Self.path(identity), body)
                return "\(answer.status) \(answer.json["code"]?.string ?? "")"
            }
            #expect(answers["200 "] == 1 && (answers["409 SEQUENCE_TAKEN"] ?? 0) + 1 == 32, "\(answers)")
            let log = await Self.get(client, Self.path(identity) + "?from=1")
            #expect(log.json["sequence"]?.integer == 1 && log.json["events"]?.array?.count == 1)
            let listed = try await Program.run("devices", "--state-dir", folder, "--app", "kel")
            #expect(listed.code == 0 && listed.output.contains(identity.log.prefix))
        }
    }

    /// A message of Auths may have 1 MiB, and no other route takes more than before.
    @Test func largeMessages() async throws {
        try await Self.with { port, _ in
            let (identity, client) = (try TestIdentity(), try RawClient(port: port))
            #expect(await client.post("/register", try identity.message()).status == 200)
            let one = try KeyEvent.message([identity.events[0]])
            let largest = one + [UInt8](repeating: 0x20, count: 1 << 20 - one.count)
            #expect(await client.post(Self.path(identity), largest).status == 200)
            let another = try RawClient(port: port)
            #expect(await another.post(Self.path(identity), largest + [0x20]).status == 413)
            let third = try RawClient(port: port)
            let body = [UInt8](repeating: 0x20, count: 32_769)
            #expect(await third.post("/v1/device/challenge", body).status == 413)
        }
    }

    /// A revoked identity is an operator's device like all others.
    @Test func anOperatorRevokes() async throws {
        try await Self.with { port, folder in
            let (identity, client) = (try TestIdentity(), try RawClient(port: port))
            #expect(await client.post("/auths/kel/register", try identity.message()).status == 200)
            let ended = try await Program.run("revoke", "--state-dir", folder, "--app", "kel", identity.log.prefix)
            #expect(ended.code == 0)
            let answer = await client.post(Self.path(identity), try KeyEvent.message([identity.other()]))
            #expect(answer.status == 403 && answer.json["code"]?.string == "DEVICE_REVOKED")
            #expect(await client.post("/api", Array("{}".utf8)).status == 400)
            #expect(await Self.get(client, "/v1/auth/challenge").json["nonce"]?.string != nil)
        }
    }
}
