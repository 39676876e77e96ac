// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import Testing

@Suite struct AuthorityInstanceTests {
    /// What a client does to become a device.
    private func registration(_ authority: AuthorityInstance, _ key: SoftwareKey) async throws -> JSON {
        let challenge = try await authority.engine.post("/v1/device/challenge", ["app_id": "open"])
        return [
            "app_id": "open", "challenge": try #require(challenge.json["challenge"]), "proof": "none",
            "public_key": .string(TextEncoding.base64.encode(key.publicKey.derRepresentation)),
        ]
    }

    /// After a new start, an acknowledged device is still there, requests that it signed before are refused, and the
    /// audit log has its line.
    @Test func itKeepsWhatItSaid() async throws {
        let (folder, clock, key) = (try TestFolder(), FakeClock(), try SoftwareKey())
        let first = try await AuthorityInstance(.open(), in: AuthorityFolder(folder.path), clock: clock)
        let body = try await registration(first, key)
        let answer = try await first.engine.post("/v1/device/register", body)
        let device = TestDevice(app: "open", id: try #require(answer.json["device_id"]?.string), key: key)
        let request = try device.request("GET", "/v1/echo", at: clock.now().seconds)
        #expect(await first.engine.answer(request, at: .public).verdict == "200")
        await first.close()

        clock.advance(1_000)
        let second = try await AuthorityInstance(.open(), in: AuthorityFolder(folder.path), clock: clock)
        let refused = await second.engine.answer(request, at: .public)
        #expect(refused.verdict == "401 CLOCK_SKEW")
        #expect(refused.headers.first { $0.name == "Retry-After" }?.value == "3")
        clock.advance(2_000)
        let later = try device.request("GET", "/v1/echo", at: clock.now().seconds)
        #expect(await second.engine.answer(later, at: .public).verdict == "200")
        #expect(try await second.engine.post("/v1/device/register", body).verdict == "400 INVALID_CHALLENGE")
        await second.close()

        #expect(try AuditReader.verified(folder).signedLines == 1)
        #expect(String(decoding: try folder.read("audit.log"), as: UTF8.self).contains(#""event":"registered""#))
    }

    /// Decision: audit-log.
    @Test(.timeLimit(.minutes(1))) func aQuietLogIsSignedInTime() async throws {
        let folder = try TestFolder()
        let authority = try await AuthorityInstance(
            .open(), in: AuthorityFolder(folder.path), headsEvery: .milliseconds(1))
        let body = try await registration(authority, SoftwareKey())
        #expect(try await authority.engine.post("/v1/device/register", body).verdict == "200")
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
        let open = #", "public": {"address": "0.0.0.0", "port": 1, "behind_proxy": true}"# + proxies
        // On an address that others reach; on loopback, and a proxy in front of it.
        for configuration in [try Configuration.open(open), try .open(proxies, origin: "https://auth.example")] {
            let error = await errorThrown { try await AuthorityInstance(configuration, in: state) }
            #expect(error?.code == .configuration && error?.message.contains("ca init") == true)
        }
        _ = try AuthorityKeys.create(in: state, name: "Example", at: 1_800_000_000)
        let authority = try await AuthorityInstance(.open(open), in: state)
        await authority.close()
    }

    /// Keys that were made automatically are only for demos, even if the operator opens the authority to others later.
    @Test func aTestsCAServesNobodyElse() async throws {
        let folder = try TestFolder()
        let state = try AuthorityFolder(folder.path)
        let demo = try await AuthorityInstance(.open(), in: state)
        await demo.close()
        let open = try Configuration.open(#", "trusted_proxies": ["127.0.0.1"]"#, origin: "https://auth.example")
        let error = await errorThrown { try await AuthorityInstance(open, in: state) }
        #expect(error?.code == .configuration && error?.message.contains("ca.json") == true)
        let again = try await AuthorityInstance(.open(), in: state)
        await again.close()
    }

    /// Instances over the same stores have one CA, which may be rolled over; one with other keys, or without any, does
    /// not start. `SharedServeTests` and `ServedFaultTests` have two that serve.
    @Test(arguments: SharedStoreTests.kinds) func twoInstances(_: StoreKind) async throws {
        let (folders, shared) = (try (0..<3).map { _ in try TestFolder() }, try SharedServers.shared())
        defer { withExtendedLifetime(folders) {} }
        let states = try folders.map { try AuthorityFolder($0.path) }
        func start(_ index: Int) async throws -> AuthorityInstance {
            let name = #", "instance": "number\#(index)""#
            return try await AuthorityInstance(.open(name), in: states[index], shared: shared)
        }
        #expect(await errorThrown { try await start(0) }?.code == .configuration)
        for index in [0, 2] { _ = try AuthorityKeys.create(in: states[index], name: "Example", at: 1_800_000_000) }
        try folders[1].write(folders[0].read("ca.json"), to: "ca.json")
        let (first, second) = (try await start(0), try await start(1))
        let other = await errorThrown { try await start(2) }
        #expect(other?.code == .configuration && other?.message.contains("ca.json") == true)
        await first.close()
        // A CA that replaces the settled one is accepted, and the former one is then refused.
        _ = try AuthorityKeys.roll(in: states[0], name: "Later", at: 1_800_000_000)
        for instance in [try await start(0), second] { await instance.close() }
        #expect(await errorThrown { try await start(1) }?.code == .configuration)
    }
}
