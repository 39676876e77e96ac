// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import Testing

@Suite struct AuthorityInstanceTests {
    private func configuration(_ more: String = "", origin: String = "http://127.0.0.1:8420") throws -> Configuration {
        let text = """
            {"origins": ["\(origin)"], "apps": [{"id": "open", "require_attestation": false}]\(more)}
            """
        return try Configuration(parsing: Array(text.utf8))
    }

    private func post(_ authority: AuthorityInstance, _ path: String, _ body: JSON) async throws -> AuthorityAnswer {
        await authority.engine.answer(
            AuthorityRequest(method: "POST", target: path, body: try body.encoded()), at: .public)
    }

    /// After a new start, an acknowledged device is still there, requests that it signed before are refused, and the
    /// audit log has its line.
    @Test func itKeepsWhatItSaid() async throws {
        let (folder, clock) = (try TestFolder(), FakeClock())
        let key = try SoftwareKey()
        let keyText = TextEncoding.base64.encode(key.publicKey.derRepresentation)
        let first = try await AuthorityInstance(configuration(), in: AuthorityFolder(folder.path), clock: clock)
        let challenge = try await post(first, "/v1/device/challenge", ["app_id": "open"])
        let body: JSON = [
            "app_id": "open", "challenge": try #require(challenge.json["challenge"]), "public_key": .string(keyText),
            "proof": "none",
        ]
        let answer = try await post(first, "/v1/device/register", body)
        let device = TestDevice(app: "open", id: try #require(answer.json["device_id"]?.string), key: key)
        let request = try device.request("GET", "/v1/echo", at: clock.now().seconds)
        #expect(await first.engine.answer(request, at: .public).verdict == "200")
        await first.close()

        clock.advance(1_000)
        let second = try await AuthorityInstance(configuration(), in: AuthorityFolder(folder.path), clock: clock)
        let refused = await second.engine.answer(request, at: .public)
        #expect(refused.verdict == "401 CLOCK_SKEW")
        #expect(refused.headers.first { $0.name == "Retry-After" }?.value == "3")
        clock.advance(2_000)
        let later = try device.request("GET", "/v1/echo", at: clock.now().seconds)
        #expect(await second.engine.answer(later, at: .public).verdict == "200")
        #expect(try await post(second, "/v1/device/register", body).verdict == "400 INVALID_CHALLENGE")
        await second.close()

        let keys = try #require(try AuthorityKeys(from: AuthorityFolder(folder.path)))
        let auditKey = keys.audit.withBytes { span in span.indices.map { span[$0] } }
        var verifier = try AuditVerifier(instance: "main", key: auditKey) { head, signature throws(TenonError) in
            try keys.publicKey.verify(Signature(derRepresentation: signature.span), for: Digest(hashing: head.message))
        }
        let text = try folder.read("audit.log")
        try verifier.update(text)
        #expect(try verifier.finish().signedLines == 1)
        #expect(String(decoding: text, as: UTF8.self).contains(#""event":"registered""#))
    }

    /// Decision: audit-log.
    @Test(.timeLimit(.minutes(1))) func aQuietLogIsSignedInTime() async throws {
        let folder = try TestFolder()
        let authority = try await AuthorityInstance(
            configuration(), in: AuthorityFolder(folder.path), headsEvery: .milliseconds(1))
        let challenge = try await post(authority, "/v1/device/challenge", ["app_id": "open"])
        let key = try SoftwareKey()
        let body: JSON = [
            "app_id": "open", "challenge": try #require(challenge.json["challenge"]),
            "public_key": .string(TextEncoding.base64.encode(key.publicKey.derRepresentation)), "proof": "none",
        ]
        #expect(try await post(authority, "/v1/device/register", body).verdict == "200")
        while try !String(decoding: folder.read("audit.log"), as: UTF8.self).contains(#""event":"head""#) {
            await Task.yield()
        }
        await authority.close()
    }

    /// Decision: authority-keys.
    @Test func aCAIsNotMadeWhereOthersAsk() async throws {
        let folder = try TestFolder()
        let state = try AuthorityFolder(folder.path)
        let proxies = #", "trusted_proxies": ["127.0.0.1"]"#
        let open = try configuration(#", "public": {"address": "0.0.0.0", "port": 1, "behind_proxy": true}"# + proxies)
        // On loopback, and a proxy in front of it.
        let proxied = try configuration(proxies, origin: "https://auth.example")
        let hidden = await #expect(throws: TenonError.self) { try await AuthorityInstance(proxied, in: state) }
        #expect(hidden?.code == .configuration && hidden?.message.contains("ca init") == true)
        let error = await #expect(throws: TenonError.self) { try await AuthorityInstance(open, in: state) }
        #expect(error?.code == .configuration && error?.message.contains("ca init") == true)
        _ = try AuthorityKeys.create(in: state, name: "Example", at: 1_800_000_000)
        let authority = try await AuthorityInstance(open, in: state)
        await authority.close()
    }

    /// Keys that were made automatically are only for demos, even if the operator opens the authority to others later.
    @Test func aTestsCAServesNobodyElse() async throws {
        let folder = try TestFolder()
        let state = try AuthorityFolder(folder.path)
        let demo = try await AuthorityInstance(configuration(), in: state)
        await demo.close()
        let open = try configuration(#", "trusted_proxies": ["127.0.0.1"]"#, origin: "https://auth.example")
        let error = await #expect(throws: TenonError.self) { try await AuthorityInstance(open, in: state) }
        #expect(error?.code == .configuration && error?.message.contains("ca.json") == true)
        let again = try await AuthorityInstance(configuration(), in: state)
        await again.close()
    }

    /// Two instances over the same stores: a challenge of one is redeemed at the other, once, and a request that one
    /// took is a replay at the other. One with other keys does not start.
    @Test(arguments: StoreKind.allCases.filter { $0 == .shared }) func twoInstances(_ kind: StoreKind) async throws {
        let name = SharedServers.name()
        let servers = try #require(SharedServers.folder)
        let (folders, clock) = (try (0..<3).map { _ in try TestFolder() }, FakeClock())
        defer { withExtendedLifetime(folders) {} }
        var shared = AuthorityInstance.Shared(
            postgres: .init(address: "host=\(servers) user=tenon dbname=postgres", schema: name, connections: 2),
            redis: .init(address: .unix(path: "\(servers)/redis.sock"), prefix: "\(name):"))
        shared.redis.serverTime = { clock.now().wall }
        let states = try folders.map { try AuthorityFolder($0.path) }
        let error = await #expect(throws: TenonError.self) {
            try await AuthorityInstance(configuration(), in: states[0], shared: shared, clock: clock)
        }
        #expect(error?.code == .configuration)
        _ = try AuthorityKeys.create(in: states[0], name: "Example", at: 1_800_000_000)
        try folders[1].write(folders[0].read("ca.json"), to: "ca.json")
        _ = try AuthorityKeys.create(in: states[2], name: "Example", at: 1_800_000_000)
        let first = try await AuthorityInstance(configuration(), in: states[0], shared: shared, clock: clock)
        let second = try await AuthorityInstance(
            configuration(#", "instance": "two""#), in: states[1], shared: shared, clock: clock)
        let other = await #expect(throws: TenonError.self) {
            try await AuthorityInstance(
                configuration(#", "instance": "three""#), in: states[2], shared: shared, clock: clock)
        }
        #expect(other?.code == .configuration && other?.message.contains("ca.json") == true)

        clock.advance(600_000)
        let key = try SoftwareKey()
        let challenge = try await post(first, "/v1/device/challenge", ["app_id": "open"])
        let body: JSON = [
            "app_id": "open", "challenge": try #require(challenge.json["challenge"]),
            "public_key": .string(TextEncoding.base64.encode(key.publicKey.derRepresentation)),
        ]
        let answer = try await post(second, "/v1/device/register", body)
        #expect(try await post(first, "/v1/device/register", body).verdict == "400 INVALID_CHALLENGE")
        let device = TestDevice(app: "open", id: try #require(answer.json["device_id"]?.string), key: key)
        let request = try device.request("GET", "/v1/echo", at: clock.now().seconds)
        #expect(await first.engine.answer(request, at: .public).verdict == "200")
        #expect(await second.engine.answer(request, at: .public).verdict == "409 NONCE_REPLAY")
        await first.close()
        // A CA that replaces the settled one is accepted, and the former one is then refused.
        _ = try AuthorityKeys.roll(in: states[0], name: "Later", at: 1_800_000_000)
        let rolled = try await AuthorityInstance(configuration(), in: states[0], shared: shared, clock: clock)
        await rolled.close()
        await second.close()
        let late = await #expect(throws: TenonError.self) {
            try await AuthorityInstance(configuration(), in: states[1], shared: shared, clock: clock)
        }
        #expect(late?.code == .configuration)
    }
}
