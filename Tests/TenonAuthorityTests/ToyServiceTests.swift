// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Synchronization
import Tenon
import TenonAuthority
import TenonAuthoritySynheart
import Testing
import ToyAuthority
import ToyService

/// A second service with its own messages beside the first. Only its folders and this test's list know it.
@Suite struct ToyServiceTests {
    private static func configuration(_ apps: String) throws -> Configuration {
        let text = """
            {"origins": ["http://127.0.0.1:8420"],
             "apps": [{"id": "open", "require_attestation": false}, \(apps)]}
            """
        return try Configuration(parsing: Array(text.utf8), services: [.synheart, .toy])
    }

    private static let garden = #"{"id": "garden", "service": "toy", "require_attestation": false, "longest_name": 9}"#

    private static func with(
        _ apps: String = garden, in folder: TestFolder? = nil,
        _ body: (AuthorityInstance, FakeClock) async throws -> Void
    ) async throws {
        let (folder, clock) = (try folder ?? TestFolder(), FakeClock())
        clock.advance(20_000)
        let authority = try await AuthorityInstance(
            configuration(apps), in: AuthorityFolder(folder.path), clock: clock)
        do { try await body(authority, clock) } catch {
            await authority.close()
            throw error
        }
        await authority.close()
    }

    private static func identity(
        _ wire: ToyWire, _ vault: ScriptedVault, in folder: TestFolder, name: String = "Ann & Bob"
    ) throws -> DeviceIdentity {
        let time = FlowTime()
        time.advance(.seconds(20))
        return try DeviceIdentity(
            appID: "garden", profile: ToyProfile(baseURL: "http://127.0.0.1:8420/toy/garden", name: name), vault: vault,
            transport: wire, folder: StateFolder(at: "\(folder.path)/device"), clock: time.clock)
    }

    private static func visit(_ wire: ToyWire, _ identity: DeviceIdentity) async throws -> HTTPResponse {
        let signed = try await identity.sign("POST", path: "/toy/garden/visit", body: [1, 2, 3])
        let request = HTTPRequest(
            method: "POST", url: "http://127.0.0.1:8420/toy/garden/visit", headers: signed.headers, body: [1, 2, 3])
        return try await wire.exchange(request, deadline: .now)
    }

    /// The answer to a registration is lost: the device asks again with the same key, and is the same device.
    @Test func itRegistersLosesAnAnswerAndSigns() async throws {
        let (folder, vault) = (try TestFolder(), ScriptedVault())
        try await Self.with { authority, _ in
            let wire = ToyWire(authority.engine, losing: ["/toy/garden/enrol"])
            let identity = try Self.identity(wire, vault, in: folder)
            try await identity.register()
            #expect(vault.keysMade == 1 && wire.paths.filter { $0.hasSuffix("/enrol") }.count == 2)
            let devices = try await authority.engine.stores.devices.devices(app: "garden", from: nil, limit: 10).devices
            #expect(devices.map(\.id) == [identity.deviceID])
            for count in 1...2 {
                let answer = try await Self.visit(wire, identity)
                #expect(answer.text == "name=Ann%20%26%20Bob&visits=\(count)")
            }
        }
    }

    /// The engine's refusals have the form of the service whose mount the path begins with.
    @Test func theEngineRefusesInItsForm() async throws {
        try await Self.with { authority, _ in
            func ask(_ method: String, _ path: String, body: Int = 0) async -> AuthorityAnswer {
                await authority.engine.ask(method, path, Array(repeating: 0x61, count: body))
            }
            for (method, path, body, status, word) in [
                ("POST", "/toy/garden/none", 0, 404, "not-found"), ("POST", "/toy/none/nonce", 0, 404, "not-found"),
                ("GET", "/toy/garden/nonce", 0, 405, "method-not-allowed"),
                ("POST", "/toy/garden/nonce", 1, 413, "invalid-request"),
                ("POST", "/enrol", 1_025, 413, "invalid-request"), ("POST", "/enrol", 1, 400, "invalid-request"),
                ("POST", "/toy/garden/visit", 0, 400, "invalid-request"),
            ] {
                let answer = await ask(method, path, body: body)
                #expect(answer.status == status, "\(path)")
                #expect(String(decoding: answer.body, as: UTF8.self).hasPrefix("error=\(word)&text="), "\(path)")
                #expect(answer.header("Content-Type") == "application/x-www-form-urlencoded")
                #expect(answer.header("x-synheart-error") == nil)
            }
            // The other service has its own form, even for an app that is not its own.
            let other = await ask("GET", "/v1/device/challenge")
            #expect(other.verdict == "405 METHOD_NOT_ALLOWED")
            #expect(other.header("x-synheart-error") == "METHOD_NOT_ALLOWED")
            let foreign = try await authority.engine.post("/v1/device/challenge", ["app_id": "garden"])
            #expect(foreign.verdict == "403 UNKNOWN_APP")
            // An operator's requests belong to neither service.
            let admin = await authority.engine.ask("GET", "/toy/a", at: .admin)
            #expect(admin.verdict == "404 NOT_FOUND" && admin.header("x-synheart-error") == nil)
        }
    }

    /// The bare path belongs to the only app, and to no app if there are two.
    @Test func theMountTellsAppsApart() async throws {
        let second = Self.garden + ", " + Self.garden.replacing("garden", with: "field")
        for (apps, status) in [(Self.garden, 200), (second, 404)] {
            try await Self.with(apps) { authority, _ in
                for (path, status) in [("/toy/garden/nonce", 200), ("/nonce", status)] {
                    #expect(await authority.engine.ask("POST", path).status == status, "\(path)")
                }
            }
        }
    }

    /// A service has its own settings, and a mistake in them is reported with its place.
    @Test func itsSettings() async throws {
        for (member, sentence) in [
            (#""longest_name": 0"#, "longest_name must be"), (#""dialects": []"#, "dialects is not known"),
            (#""service": "tay""#, "service must be \"synheart\" or \"toy\""),
        ] {
            let app = Self.garden.replacing("\"longest_name\": 9", with: member).replacing(
                member.contains("service") ? #""service": "toy", "# : "none", with: "")
            await expectError(sentence) { try Self.configuration(app) }
        }
        let (folder, vault) = (try TestFolder(), ScriptedVault())
        try await Self.with { authority, _ in
            let wire = ToyWire(authority.engine)
            let error = await errorThrown {
                try await Self.identity(wire, vault, in: folder, name: "ten letters").register()
            }
            #expect(error?.message.isEmpty == false)
        }
    }

    /// A revoked device learns it, a request that was made twice is refused, and an operator sees the device.
    @Test func theEngineDoesTheRest() async throws {
        let (folder, vault) = (try TestFolder(), ScriptedVault())
        try await Self.with { authority, _ in
            let wire = ToyWire(authority.engine)
            let identity = try Self.identity(wire, vault, in: folder)
            try await identity.register()
            let signed = try await identity.sign("POST", path: "/toy/garden/visit", body: [])
            let request = HTTPRequest(
                method: "POST", url: "http://127.0.0.1:8420/toy/garden/visit", headers: signed.headers)
            #expect(try await wire.exchange(request, deadline: .now).status == 200)
            #expect(try await wire.exchange(request, deadline: .now).text.hasPrefix("error=nonce-replay&"))
            let id = try #require(identity.deviceID)
            let revocation: JSON = ["app_id": "garden", "device_id": .string(id)]
            let answer = try await authority.engine.post("/v1/revoke", revocation, at: .admin)
            #expect(answer.status == 200)
            #expect(try await Self.visit(wire, identity).text.hasPrefix("error=device-revoked&"))
        }
    }

    private static let tables = "SELECT version FROM service_versions WHERE service='toy'"

    /// The tables have versions of their own: a later one is not opened, and a second start changes nothing.
    @Test func itsTables() async throws {
        let folder = try TestFolder()
        var options = SQLiteStore.Options()
        options.services = [.synheart, .toy]
        func open() throws -> SQLiteStore { try SQLiteStore(in: AuthorityFolder(folder.path), options: options) }
        for start in 0..<2 {
            let store = try open()
            let version = try await store.step { connection throws(TenonError) in
                let version = try connection.run(Self.tables).first?.integer(0)
                if start == 1 { _ = try connection.run("UPDATE service_versions SET version=2") }
                return version
            }
            #expect(version == 1)
            await store.close()
        }
        #expect(await errorThrown { try open() }?.code == .storeVersion)
    }

    @Test(arguments: SharedStoreTests.kinds)
    func itsTablesInPostgreSQL(_: StoreKind) async throws {
        let name = SharedServers.name()
        for start in 0..<2 {
            let store = try SharedServers.postgres(name, connections: 1, services: [.toy])
            let rows = try await store.step { connection throws(TenonError) in
                if start == 0 { _ = try connection.run("INSERT INTO toy_devices VALUES ('a', 'b', 7)") }
                return try connection.run("SELECT visits FROM toy_devices WHERE device='a'").first?.integer(0)
            }
            #expect(rows == 7)
            await store.close()
        }
    }
}

/// The way to an authority in this process, which loses the first answer of some paths.
final class ToyWire: Transport {
    private let engine: AuthorityEngine
    private let state: Mutex<(losing: Set<String>, paths: [String])>

    init(_ engine: AuthorityEngine, losing: Set<String> = []) {
        self.engine = engine
        state = Mutex((losing, []))
    }

    var paths: [String] { state.withLock { $0.paths } }

    func lose(_ path: String) { state.withLock { _ = $0.losing.insert(path) } }

    func exchange(
        _ request: HTTPRequest, deadline: ContinuousClock.Instant
    ) async throws(TenonError) -> HTTPResponse {
        let path = String(request.url.dropFirst("http://127.0.0.1:8420".count))
        let asked = AuthorityRequest(
            method: request.method, target: path, headers: [("Host", "127.0.0.1:8420")] + request.headers,
            body: request.body)
        let answer = await engine.answer(asked, at: .public)
        let isLost = state.withLock { state in
            state.paths.append(path)
            return state.losing.remove(path) != nil
        }
        guard !isLost else { throw TenonError(.httpNoAnswer, message: "The answer was lost.") }
        let moment = Moment(continuous: .now, sinceEpoch: .seconds(engine.clock.now().seconds))
        return HTTPResponse(
            status: answer.status, headers: answer.headers, body: answer.body, sent: moment, received: moment)
    }
}

extension HTTPResponse {
    fileprivate var text: String { String(decoding: body, as: UTF8.self) }
}
