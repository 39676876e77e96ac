// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TestFolders
import Testing

@testable import TenonAuthority
@testable import TenonAuthorityServer

/// A complete authority, asked over its sockets.
@Suite(.timeLimit(.minutes(1))) struct LiveTests {
    private func challenge(_ client: RawClient) async throws -> String {
        let answer = await client.post("/v1/device/challenge", Array(#"{"app_id":"open"}"#.utf8))
        return try #require(answer.json["challenge"]?.string)
    }

    private func registration(_ challenge: String) throws -> [UInt8] {
        let key = try SoftwareKey().publicKey
        let json: JSON = [
            "app_id": "open", "challenge": .string(challenge), "proof": "none",
            "public_key": .string(TextEncoding.base64.encode(key.derRepresentation)),
        ]
        return try json.encoded()
    }

    /// 64 connections redeem one challenge at once: one becomes a device.
    @Test func oneOfManyWins() async throws {
        try await withAuthority { port, folder in
            let challenge = try await challenge(RawClient(port: port))
            let clients = try (0..<64).map { _ in (try RawClient(port: port), try registration(challenge)) }
            let answers = try await atOnce(clients) { client, body in
                let answer = await client.post("/auth/v1/device/register", body)
                return "\(answer.status) \(answer.json["error_code"]?.string ?? "")"
            }
            #expect(answers == ["200 ": 1, "400 INVALID_CHALLENGE": 63])
            let listed = try await Program.run("devices", "--state-dir", folder)
            #expect(listed.output.split(separator: "\n").count == 1)
            // The admin socket gets the id as it was typed, whatever characters it contains.
            let none = try await Program.run("devices", "--state-dir", folder, "--app", "a:b/%c")
            #expect(none.code == 0 && none.output.isEmpty)
            let some = try await Program.run("devices", "--state-dir", folder, "--app", "open")
            #expect(some.output == listed.output)
        }
    }

    /// One device is revoked, and its machine may register again: the output says so, and says how to prevent it.
    @Test func whatARevocationLeaves() async throws {
        try await withAuthority { port, folder in
            let client = try RawClient(port: port)
            let answer = await client.post("/v1/device/register", try registration(try await challenge(client)))
            let id = try #require(answer.json["device_id"]?.string)
            func revoke(_ more: String...) async throws -> (code: Int32, output: String) {
                try await Program(["revoke", "--state-dir", folder, "--app", "open", id] + more).ended()
            }
            let ended = try await revoke()
            #expect(ended.code == 0 && ended.output.contains("can register again"))
            #expect(ended.output.contains("require_attestation"))
            // The TPM of this device is unknown.
            let compromised = try await revoke("--compromised")
            #expect(compromised.code == 0 && compromised.output.contains(id))
            #expect(compromised.output.contains("can register again"))
        }
    }

    static let bodies: [[UInt8]] =
        [
            "", " ", "null", "[]", "\"open\"", "1", "{", "}", "{}", #"{"app_id"}"#, #"{"app_id":}"#,
            #"{"app_id":"open",}"#,
            #"{"app_id":"open"}x"#, #"{"app_id":"open"}{"app_id":"open"}"#, #"{"app_id":"open"}"# + "\0",
            #"{"app_id":"open","app_id":"open"}"#, #"{"app_id":"open","app\u005fid":"open"}"#, #"{"app_id":1}"#,
            #"{"app_id":null}"#, #"{"app_id":["open"]}"#, #"{"app_id":{"a":"open"}}"#, #"{'app_id':'open'}"#,
            #"{app_id:"open"}"#, #"{"app_id":"open"/**/}"#, #"{"app_id":"\ud800"}"#, #"{"app_id":"\x6fpen"}"#,
            "{\"app_id\":\"op\ten\"}", #"{"app_id":"open","a":01}"#, #"{"app_id":"open","a":NaN}"#,
            #"{"app_id":"open","a":1e999}"#,
            #"{"app_id":"open","a":"# + String(repeating: "[", count: 9)
                + String(repeating: "]", count: 9) + "}", String(repeating: "[", count: 32_768),
            "{\"app_id\":\"open\",\"a\":[" + String(repeating: "0,", count: 5_000) + "0]}",
        ].map { Array($0.utf8) } + [
            [0xef, 0xbb, 0xbf] + Array(#"{"app_id":"open"}"#.utf8),
            Array(#"{"app_id":"op"#.utf8) + [0xff] + Array("\"}".utf8),
            Array(#"{"app_id":"op"#.utf8) + [0xc0, 0xaf] + Array("\"}".utf8),
            Array(#"{"app_id":"op"#.utf8) + [0xed, 0xa0, 0x80] + Array("\"}".utf8),
            Array(#"{"app_id":"open"}"#.utf8).flatMap { [$0, 0] },
        ]

    /// A body that is not strict JSON, or has another form, is refused as such, and the connection continues.
    @Test func hostileJSON() async throws {
        try await withAuthority { port, _ in
            let client = try RawClient(port: port)
            for body in Self.bodies {
                for path in ["/v1/device/challenge", "/v1/device/register", "/ca/open/attest"] {
                    let answer = await client.post(path, body)
                    let text = String(decoding: body.prefix(40), as: UTF8.self)
                    #expect(answer.status == 400, "\(path) \(text)")
                    #expect(answer.json["error_code"]?.string == "INVALID_REQUEST", "\(path) \(text)")
                }
            }
            #expect(try await challenge(client).utf8.count == 76)
        }
    }

    /// Each route is answered only at its own listeners (decision: listeners).
    @Test func doors() async throws {
        try await withAuthority { port, _ in
            let client = try RawClient(port: port)
            for endpoint in try Routes.all() where !endpoint.doors.contains(.public) {
                let path = endpoint.path.split(separator: "{", omittingEmptySubsequences: false)
                    .map { $0.split(separator: "}", omittingEmptySubsequences: false).last ?? "" }
                    .joined(separator: "open")
                for prefix in ["", "/auth"] {
                    client.send("\(endpoint.method ?? "GET") \(prefix + path) HTTP/1.1\r\nHost: a\r\n")
                    let hasBody = ["POST", "PUT", "PATCH"].contains(endpoint.method)
                    client.send(hasBody ? "Content-Length: 2\r\n\r\n{}" : "\r\n")
                    #expect(statuses(await client.readAnswer()) == [404], "\(endpoint.path)")
                }
            }
        }
    }

    /// Only the authority's user and root are admitted, whatever the mode of the socket has become.
    @Test func whoIsAnOperator() async throws {
        try await withFolder { folder in
            let text =
                #"{"origins": ["http://127.0.0.1:8420"], "apps": [{"id": "open", "require_attestation": false}]}"#
            let authority = try await AuthorityInstance(
                Configuration(parsing: Array(text.utf8), services: HostedService.all),
                in: AuthorityFolder(folder + "/state"))
            let request = AuthorityRequest(method: "GET", target: "/v1/health")
            for (user, status) in [(UInt32?.none, 403), (geteuid(), 200), (0, 200), (geteuid() + 1, 403)] {
                let peer = HTTPPeer(address: "", user: user)
                let answer = await Listeners.adminAnswer(request, peer, authority.engine, Metrics())
                #expect(answer.status == status, "\(String(describing: user))")
            }
            await authority.close()
        }
    }

    @Test func howItIs() async throws {
        try await withAuthority { port, folder in
            #expect(statuses(await (try RawClient(port: port)).talk(Self.health)) == [200])
            let ended = try await Program.run("health", "--state-dir", folder)
            #expect(ended.code == 0 && ended.output.contains("status\tok\n"))
            #expect(ended.output.contains("replay_losses\t0\n") && ended.output.contains("activations\t0\n"))
            let metrics = try await Program.run("metrics", "--state-dir", folder).output
            #expect(
                metrics.contains("tenon_authority_healthy 1\n") && metrics.contains("tenon_authority_activations 0\n"))
            // This one.
            #expect(metrics.contains("tenon_authority_requests_waiting 1\n"))
            #expect(metrics.contains("tenon_authority_answers_total{endpoint=\"health\",code=\"OK\"} 2\n"))
            #expect(metrics.contains("tenon_authority_request_seconds_bucket{listener=\"public\",le=\"+Inf\"} 1\n"))
        }
    }

    private static let health = "GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
}
