// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TenonHTTP
import TestFolders
import Testing

@testable import TenonAuthority
@testable import TenonAuthorityServer
@testable import TenonCommandLine

/// `tenon-authority serve --shared` with a PostgreSQL that hangs, and beside other instances.
@Suite(.serialized, .timeLimit(.minutes(2))) struct StoresServeTests {
    private let scratch: ScratchFolder
    private var folder: String { scratch.path }

    init() throws { scratch = try ScratchFolder() }

    private typealias Instance = SharedServeTests.Instance

    private static func command(_ servers: String, _ words: String) throws {
        let pipe = try #require(popen("'\(servers)/fragile/server' \(words) 2>&1", "r"))
        while fgetc(pipe) != EOF {}
        try #require(pclose(pipe) == 0)
    }

    private static func register(_ instance: Instance) async throws -> JSON {
        try await instance.post("/v1/device/register", instance.registration())
    }

    /// PostgreSQL does not answer. Clients are told so in time, an operator is told that nothing was done, the process
    /// ends when told to, and the next one starts when the server is back.
    @Test(arguments: SharedServeTests.servers) func postgresHangs(_ servers: String) async throws {
        let shared = Instance.place(servers + "/fragile", more: #", "deadline_ms": 1000"#)
        let instance = try Instance("one", in: folder, shared: shared)
        try await instance.makeCA()
        let program = try await instance.serve("--shared")
        let device = try #require(try await Self.register(instance)["device_id"]?.string)
        try Self.command(servers, "postgres pause")
        do {
            let begin = ContinuousClock.now
            #expect(try await Self.register(instance)["error_code"]?.string == "UNAVAILABLE")
            let revoked = try await instance.run("revoke", "--app", "open", device)
            #expect(revoked.code == TenonError.Category.unavailable.rawValue)
            #expect(revoked.output.contains("Nothing was stored."), "\(revoked.output)")
            #expect(ContinuousClock.now - begin < .seconds(20))
            try await program.stop()
            #expect(ContinuousClock.now - begin < .seconds(45))
        } catch {
            try Self.command(servers, "postgres resume")
            throw error
        }
        try Self.command(servers, "postgres resume")
        let again = try await instance.serve("--shared")
        let listed = try await instance.run("devices")
        #expect(listed.output.hasPrefix("\(device)\topen\tactive"), "\(listed.output)")
        try await again.stop()
    }

    /// `health` ends with the fault, with --json, too, and so does a process that gave up on a request.
    @Test(arguments: SharedServeTests.servers) func aFaultIsTheExitCode(_ servers: String) async throws {
        let shared = Instance.place(servers + "/fragile", more: #", "deadline_ms": 20000"#)
        let instance = try Instance("one", in: folder, shared: shared + #" "limits": {"stop_seconds": 1},"#)
        try await instance.makeCA()
        let program = try await instance.serve("--shared")
        let body = try await instance.registration()
        try Self.command(servers, "postgres pause")
        defer { try? Self.command(servers, "postgres resume") }
        let asking = Task { try? await instance.post("/v1/device/register", body) }
        while try await !instance.run("metrics").output.contains("requests_waiting 2\n") {}
        while try await instance.run("health").code == 0 {}
        let health = try await instance.run("health", "--json")
        #expect(health.code == TenonError.Category.unavailable.rawValue && health.output.hasPrefix("{"))
        program.signal(SIGTERM)
        let ended = try await program.ended()
        #expect(ended.code == TenonError.Category.unavailable.rawValue)
        #expect(ended.output.contains("could not be answered in 1 s"), "\(ended.output)")
        #expect(await asking.value == nil)
    }

    /// A name belongs to one process; a killed process is followed at once, and a different policy is reported at the
    /// start.
    @Test(arguments: SharedServeTests.servers) func namesAndPolicies(_ servers: String) async throws {
        let shared = Instance.place(servers)
        let one = try Instance("one", in: folder, shared: shared)
        let two = try Instance("two", in: folder, shared: shared)
        try await one.makeCA()
        try two.write(TextFile.read("\(one.state)/ca.json"), to: "ca.json")
        let usual = try TextFile.read("\(two.state)/authority.json")
        let first = try await one.serve("--shared")
        try two.write(usual.replacing("\"instance\": \"two\"", with: "\"instance\": \"one\""), to: "authority.json")
        let taken = try await two.run("serve", "--shared")
        #expect(taken.code != 0 && taken.output.contains("name \"one\" (process "), "\(taken.output)")
        try two.write(
            usual.replacing("\"id\": \"open\"", with: "\"id\": \"open\", \"max_key_age_days\": 9"),
            to: "authority.json")
        let differs = try await two.run("serve", "--shared")
        #expect(differs.code != 0 && differs.output.contains("--rolling"), "\(differs.output)")
        let second = try Program(["serve", "--shared", "--rolling", "--state-dir", two.state])
        #expect(
            await second.line() == "tenon-authority: The instance \"one\" has another policy for the app \"open\".")
        #expect(await second.line()?.hasPrefix("tenon-authority ") == true)
        first.signal(SIGKILL)
        #expect(try await first.ended().code == 128 + SIGKILL)
        // It still has the former configuration.
        let again = try await one.serve("--shared", "--rolling")
        for program in [again, second] { try await program.stop() }
    }

    /// Pages of a listing, and a row that somebody damaged.
    @Test(arguments: SharedServeTests.servers) func listings(_ servers: String) async throws {
        let instance = try Instance("one", in: folder, shared: Instance.place(servers + "/fragile"))
        try await instance.makeCA()
        let program = try await instance.serve("--shared")
        var ids: [String] = []
        for _ in 0..<5 { ids.append(try #require(try await Self.register(instance)["device_id"]?.string)) }
        func list(_ words: String...) async throws -> (code: Int32, ids: [Substring]) {
            let (code, output) = try await Program(["devices", "--state-dir", instance.state] + words).ended()
            return (code, output.split(separator: "\n").map { $0.prefix { $0 != "\t" } })
        }
        func expected(_ range: Range<Int>) -> [Substring] { ids[range].map { $0[...] } }
        #expect(try await list() == (0, expected(0..<5)))
        #expect(try await list("--limit", "2") == (0, expected(0..<2)))
        #expect(try await list("--limit", "2", "--after", ids[1]) == (0, expected(2..<4)))
        #expect(try await list("--after", ids[3], "--app", "open") == (0, expected(4..<5)))
        #expect(try await list("--after", ids[4]) == (0, []))
        #expect(try await list("--after", "nobody").code == TenonError.Category.argument.rawValue)
        #expect(try await list("--limit", "0").code == TenonError.Category.argument.rawValue)
        let configuration = try Configuration(
            file: "\(instance.state)/authority.json", services: HostedService.all)
        let name = try #require(configuration.shared?.name)
        try Self.command(servers, "postgres sql \"UPDATE \(name).devices SET state='x' WHERE id='\(ids[2])'\"")
        let damaged = try await instance.run("devices")
        #expect(damaged.code == TenonError.Category.unavailable.rawValue)
        #expect(damaged.output.contains("the device \(ids[2]) is damaged"), "\(damaged.output)")
        for id in ids where id != ids[2] { #expect(damaged.output.contains("\(id)\topen\tactive")) }
        #expect(try await list("--json").code == TenonError.Category.unavailable.rawValue)
        try await program.stop()
    }
}
