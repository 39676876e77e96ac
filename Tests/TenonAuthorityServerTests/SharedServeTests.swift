// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TenonHTTP
import TestFolders
import Testing

@testable import TenonAuthority
@testable import TenonAuthorityServer
@testable import TenonCommandLine

/// `tenon-authority serve --shared`, on the servers of Tests/Scripts/stores.sh if they run.
@Suite(.timeLimit(.minutes(1))) struct SharedServeTests {
    private let scratch: ScratchFolder
    private var folder: String { scratch.path }

    init() throws { scratch = try ScratchFolder() }

    static let servers = getenv("TENON_TEST_STORES").map { [String(cString: $0)] } ?? []

    /// An instance's folder with its configuration, and with a CA.
    struct Instance {
        let state: String
        let url: String

        init(_ name: String, in folder: String, shared: String) throws {
            state = "\(folder)/\(name)"
            let port = try ListeningSocket(address: "127.0.0.1", port: 0).port
            url = "http://127.0.0.1:\(port)"
            try #require(mkdir(state, 0o700) == 0)
            try write(
                """
                {"origins": ["http://127.0.0.1:1"], "instance": "\(name)", \(shared)
                 "public": {"address": "127.0.0.1", "port": \(port)},
                 "apps": [{"id": "open", "require_attestation": false}]}
                """, to: "authority.json")
        }

        func write(_ text: String, to name: String) throws { try text.write(to: "\(state)/\(name)") }

        /// Waits until it prints where it listens.
        func serve(_ words: String...) async throws -> Program {
            let program = try Program(["serve", "--state-dir", state] + words)
            while let line = await program.line() {
                if line.hasPrefix("tenon-authority ") { return program }
                if line.hasPrefix("tenon-authority: ") { continue }
                Issue.record("\(line)")
            }
            return program
        }

        /// A place of its own on the servers.
        static func place(_ servers: String, more: String = "") -> String {
            let name = "s\(getpid())_\(UInt32.random(in: 0...UInt32.max))"
            let (redis, postgres) = ("unix:\(servers)/redis.sock", "host=\(servers) user=tenon dbname=postgres")
            return #""shared": {"redis": "\#(redis)", "postgres": "\#(postgres)", "name": "\#(name)"\#(more)},"#
        }

        /// The authority's command about this instance.
        func run(_ words: String...) async throws -> (code: Int32, output: String) {
            try await Program(words + ["--state-dir", state]).ended()
        }

        func makeCA() async throws { #expect(try await run("ca", "init").code == 0) }

        func registration() async throws -> JSON {
            let key = TextEncoding.base64.encode(try SoftwareKey().publicKey.derRepresentation)
            let given = try await post("/v1/device/challenge", ["app_id": "open"])
            return ["app_id": "open", "challenge": try #require(given["challenge"]), "public_key": .string(key)]
        }

        func post(_ path: String, _ body: JSON) async throws -> JSON {
            let request = HTTPRequest(method: "POST", url: url + path, body: try body.encoded())
            return try JSON(parsing: await HTTPTransport().exchange(request, deadline: .now + .seconds(30)).body)
        }
    }

    /// A challenge of one instance is redeemed at another, and both list the device; one that has another CA, or none,
    /// does not start, and says why.
    @Test(arguments: servers) func instancesShareTheirStores(_ servers: String) async throws {
        let shared = Instance.place(servers)
        let instances = try ["one", "two", "three"].map { try Instance($0, in: folder, shared: shared) }
        let none = try await instances[0].run("serve", "--shared")
        #expect(none.code == TenonError.Category.argument.rawValue || none.output.contains("ca init"))
        for index in [0, 2] { try await instances[index].makeCA() }
        try instances[1].write(TextFile.read("\(instances[0].state)/ca.json"), to: "ca.json")

        let programs = [try await instances[0].serve("--shared"), try await instances[1].serve("--shared")]
        let other = try await instances[2].run("serve", "--shared")
        #expect(other.code != 0 && other.output.contains("ca.json"))
        let body = try await instances[0].registration()
        let device = try #require(try await instances[1].post("/v1/device/register", body)["device_id"]?.string)
        let again = try await instances[0].post("/v1/device/register", body)
        #expect(again["error_code"]?.string == "INVALID_CHALLENGE")
        for instance in instances[..<2] {
            #expect(try await instance.run("devices").output.hasPrefix(device + "\t"))
        }
        for program in programs { try await program.stop() }
        for (instance, lines) in zip(instances, ["0 lines", "2 lines"]) {
            let verified = try await instance.run("audit", "verify")
            #expect(verified.output.hasPrefix(lines), "\(verified.output)")
        }
    }

    /// The addresses may be operands: both or neither.
    @Test(arguments: servers) func addressesMayBeTyped(_ servers: String) async throws {
        let postgres = "host=\(servers) user=tenon dbname=postgres"
        let instance = try Instance("one", in: folder, shared: "")
        try await instance.makeCA()
        for words in [
            ["--shared"], ["--shared", "unix:\(servers)/redis.sock"], ["unix:\(servers)/redis.sock", postgres],
            ["--shared", "redis://:secret@127.0.0.1:1", postgres],
        ] {
            let ended = try await Program(["serve", "--state-dir", instance.state] + words).ended()
            #expect(ended.code == 1 && !ended.output.contains("secret"), "\(ended.output)")
        }
        let program = try await instance.serve("--shared", "unix:\(servers)/redis.sock", postgres)
        #expect(try await instance.post("/v1/device/challenge", ["app_id": "open"])["challenge"] != nil)
        try await program.stop()
    }

    /// Without `--shared` it would be another authority, without the devices.
    @Test func sharedStoresAreAskedFor() async throws {
        let shared = #""shared": {"redis": "unix:/r", "postgres": "host=/p"},"#
        let instance = try Instance("one", in: folder, shared: shared)
        let ended = try await instance.run("serve")
        #expect(ended.code == 1 && ended.output.contains("--shared"))
    }

    /// From the file, or else from the environment; never from the command line.
    @Test func thePasswordIsInAFile() async throws {
        let text = #""shared": {"redis": "unix:/r", "postgres": "host=/p", "redis_password_file": "password"},"#
        let instance = try Instance("one", in: folder, shared: text)
        let configuration = try Configuration(file: instance.state + "/authority.json", services: HostedService.all)
        let arguments = try Arguments(["--shared"], of: .serve, in: .authority)
        #expect(throws: TenonError.self) {
            try SharedChoice.stores(arguments, configuration, folder: instance.state)
        }
        try instance.write("open sesame\n", to: "password")
        let stores = try SharedChoice.stores(arguments, configuration, folder: instance.state)
        #expect(stores?.redis.password == "open sesame" && stores?.redis.user == nil)
        #expect(stores?.redis.prefix == "tenon:" && stores?.postgres.schema == "tenon")
        try await #require(processExitsWith: .success) { [state = instance.state as String] in
            setenv("TENON_REDIS_PASSWORD", "of the environment", 1)
            #expect(try SharedServeTests.password(in: state) == "open sesame")
            let text = try TextFile.read(state + "/authority.json")
            try text.replacing(#", "redis_password_file": "password""#, with: "").write(to: state + "/authority.json")
            #expect(try SharedServeTests.password(in: state) == "of the environment")
        }
    }

    private static func password(in state: String) throws -> String? {
        let configuration = try Configuration(file: state + "/authority.json", services: HostedService.all)
        let arguments = try Arguments(["--shared"], of: .serve, in: .authority)
        return try SharedChoice.stores(arguments, configuration, folder: state)?.redis.password
    }
}
