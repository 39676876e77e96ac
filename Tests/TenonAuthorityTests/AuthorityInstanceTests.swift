// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import TestFolders
import Testing

@Suite struct AuthorityInstanceTests {
    /// What a client does to become a device.
    private func registration(
        _ authority: AuthorityInstance, _ key: SoftwareKey, versions: JSON = [1]
    ) async throws -> JSON {
        let challenge = try await authority.engine.post("/v1/device/challenge", ["app_id": "open"])
        return [
            "app_id": "open", "challenge": try #require(challenge.json["challenge"]), "proof": "none",
            "sig_versions": versions,
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

    /// The limits of the configuration hold, whichever stores there are.
    @Test(arguments: StoreKind.allCases) func itsLimits(_ kind: StoreKind) async throws {
        let folder = try TestFolder()
        let (state, key) = (try AuthorityFolder(folder.path), try SoftwareKey(signsDigests: true))
        _ = try AuthorityKeys.create(in: state, name: "Example", at: 1_800_000_000)
        let limits = #", "limits": {"challenges": 4, "challenges_per_address": 3, "roots_per_device": 1}"#
        let shared = kind == .shared ? try SharedServers.shared() : nil
        let authority = try await AuthorityInstance(.open(limits), in: state, shared: shared)
        let body = try await registration(authority, key, versions: [2])
        let answer = try await authority.engine.post("/v1/device/register", body)
        let device = TestDevice(app: "open", id: try #require(answer.json["device_id"]?.string), key: key)
        for verdict in ["200", "429 RATE_LIMITED"] {
            let draft = try CoveredDraft(device, at: SystemClock().now().seconds).with { draft in
                (draft.method, draft.authority, draft.path, draft.body) = ("GET", "127.0.0.1:8420", "/v1/echo", [])
            }
            #expect(await authority.engine.answer(try device.plain(draft).request(), at: .public).verdict == verdict)
        }
        for verdict in ["200", "200", "200", "503 UNAVAILABLE"] {
            let challenge = try await authority.engine.post(
                "/v1/device/challenge", ["app_id": "open"], peer: "192.0.2.1")
            #expect(challenge.verdict == verdict)
        }
        await authority.close()
    }

    /// The roots in the state folder, and whether an EK certificate below them must name its use.
    @Test(arguments: [(false, "no-", "200"), (true, "no-", "400 INVALID_ATTESTATION"), (true, "", "200")])
    func itsRoots(_ requires: Bool, _ usage: String, _ verdict: String) async throws {
        let folder = try TestFolder()
        let root = TextEncoding.base64.encode(try Self.certificate("root"))
        let pem = "-----BEGIN CERTIFICATE-----\n\(root)\n-----END CERTIFICATE-----\n"
        try folder.write(Array(pem.utf8), to: "root.pem")
        let app = #"{"id": "open", "ek_roots": [{"path": "root.pem", "require_eku": \#(requires)}]}"#
        let authority = try await AuthorityInstance(
            .open(app: app), in: AuthorityFolder(folder.path), clock: FakeClock())
        let ek = try Self.certificate("ek-leaf-\(usage)extended-usage--where-it-is-required")
        let ak = try WalletDevice.akArea(of: SoftwareKey(signsDigests: true))
        let body: JSON = [
            "app_id": "open", "ek_certificates": [.string(TextEncoding.base64.encode(ek))],
            "ak_public": .string(TextEncoding.base64.encode(ak)),
        ]
        #expect(try await authority.engine.post("/v1/device/challenge", body).verdict == verdict)
        await authority.close()
    }

    /// A certificate of `Tests/Vectors`, DER.
    private static func certificate(_ name: String) throws -> [UInt8] {
        let folder = "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        let text = String(decoding: try readFile("\(folder)/Vectors/certificates/certificates.txt"), as: UTF8.self)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("\(name) = ") })
        return try TextEncoding.hex.decode(String(line.dropFirst(name.count + 3)))
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
