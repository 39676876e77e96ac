// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TenonCommandLine
import TenonHTTP
import TestFolders
import Testing

@testable import TenonAuthority
@testable import TenonAuthorityServer

/// The command, as it is typed.
@Suite(.timeLimit(.minutes(1))) struct CommandTests {
    private let scratch: ScratchFolder
    private var folder: String { scratch.path }

    init() throws { scratch = try ScratchFolder() }

    /// A port that was free a moment ago.
    private func freePort() throws -> Int { try ListeningSocket(address: "127.0.0.1", port: 0).port }

    private func ask(_ method: String, _ url: String, _ body: String = "") async throws -> HTTPResponse {
        try await HTTPTransport().exchange(
            HTTPRequest(method: method, url: url, body: Array(body.utf8)), deadline: .now + .seconds(30))
    }

    /// What it serves, once it does; empty when it ended before.
    private func url(of program: Program) async -> String {
        while let line = await program.line() {
            if line.hasPrefix("tenon-authority ") { return String(line.split(separator: " ")[2].dropLast()) }
        }
        return ""
    }

    /// A folder with a configuration whose app takes the dialect of a device without a TPM, too.
    private func state(in folder: String, port: Int, isAttested: Bool) throws -> String {
        let state = folder + "/state"
        _ = try AuthorityFolder(state)
        try """
        {"origins": ["http://127.0.0.1:\(port)"], "public": {"address": "127.0.0.1", "port": \(port)},
         "admin": {"unix": "admin.sock"}, "apps": [{"id": "demo", "require_attestation": \(isAttested)}]}
        """.write(to: state + "/authority.json")
        return state
    }

    /// How a command about a folder ends, and what it says.
    private func expect(
        _ words: String..., in state: String, code: Int32 = 0, says: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let ended = try await Program(words + ["--state-dir", state]).ended()
        #expect(ended.code == code && ended.output.contains(says), "\(ended)", sourceLocation: sourceLocation)
    }

    /// From a configuration to a challenge, and an end that leaves everything stored.
    @Test(arguments: [SIGTERM, SIGINT])
    func aLife(_ signal: Int32) async throws {
        let state = try state(in: folder, port: freePort(), isAttested: false)
        let program = try Program(["--state-dir", state])
        let url = await url(of: program)
        #expect(try await ask("GET", url + "/health").status == 200)
        let answer = try await ask("POST", url + "/auth/v1/device/challenge", #"{"app_id":"demo"}"#)
        #expect(answer.status == 200)
        #expect(try JSON(parsing: answer.body)["challenge"]?.string?.utf8.count == 76)

        #expect(try await Program.run("devices", "--state-dir", state).output.isEmpty)
        var ended = try await Program.run("revoke", "--state-dir", state, "--app", "demo", "nobody")
        #expect(ended.code == 1 && ended.output == "tenon-authority: Nothing with this name is stored.\n")
        let ek = String(repeating: "a1", count: 32)
        try await expect("revoke", "--ek", ek, "--reason", "lost", "--json", in: state, says: "\"found\"")
        ended = try await Program.run("allow", "--state-dir", state, "--ek", ek)
        #expect(ended.code == 0 && ended.output == "done\n")
        ended = try await Program.run("ca", "show", "--state-dir", state)
        #expect(ended.output.split(separator: "-----BEGIN CERTIFICATE-----").count == 2)
        for line in [
            "answers_total{endpoint=\"challenge\",code=\"OK\"} 1\n",
            "request_seconds_count{listener=\"public\"} 2\n",
        ] { try await expect("metrics", in: state, says: "tenon_authority_" + line) }
        try await expect("audit", "verify", in: state, code: 5)

        // The head goes elsewhere, too, so that a log that is cut short shows (decision: audit-log).
        let output = try await program.stop(signal)
        let told = try #require(output.split(separator: "\n").first { $0.contains(" audit head main 2:") })
        let head = String(told.split(separator: " ")[4])
        ended = try await Program.run("audit", "verify", "--state-dir", state)
        #expect(ended.code == 0)
        #expect(ended.output == "3 lines, all in their places; a signed head covers 2\n")
        try await expect("devices", in: state, code: 4)
        try await expect("audit", "verify", "--head", head, in: state)
        let log = try TextFile.read(state + "/audit.log")
        try String(log[...(try #require(log.firstIndex(of: "\n")))]).write(to: state + "/audit.log")
        let cut = "ends at line 1, but the database knows of 3"
        try await expect("audit", "verify", in: state, code: 3, says: cut)
        for words in [cut, "--accept-audit-log"] { try await expect("serve", in: state, code: 3, says: words) }
        let again = try Program(["serve", "--state-dir", state, "--accept-audit-log"])
        #expect(await again.line()?.contains("ends at line 1") == true)
        #expect(await again.line()?.hasPrefix("tenon-authority ") == true)
        try await again.stop(signal)
        try await expect("audit", "verify", in: state, says: "Line 2 says how the log before it")
        try await expect("audit", "verify", "--head", head, in: state, code: 3, says: "Line 2")
        // A copy without its database cannot know that lines are missing.
        rename(state + "/authority.db", folder + "/authority.db")
        try await expect("audit", "verify", in: state, says: "No database was asked")
        // The instance's name is in the configuration, which may lie elsewhere.
        rename(state + "/authority.json", folder + "/own.json")
        try await expect("audit", "verify", in: state, code: 6)
        try await expect("audit", "verify", "--config", folder + "/own.json", in: state)
    }

    /// A closing terminal, or a reloading service manager, does not end the program, which answers with a sentence.
    @Test func aHangupEndsNothing() async throws {
        let port = try freePort()
        let program = try Program(["--state-dir", folder + "/state", "--port", "\(port)"])
        while let line = await program.line(), !line.hasPrefix("tenon-authority ") {}
        for _ in 0..<2 {
            program.signal(SIGHUP)
            #expect(await program.line()?.hasPrefix("tenon-authority: SIGHUP: ") == true)
            #expect(try await ask("GET", "http://127.0.0.1:\(port)/health").status == 200)
        }
        try await program.stop()
    }

    /// Metrics have a port of their own that serves nothing else, and describe themselves.
    @Test func metricsOnLoopback() async throws {
        let (port, metrics) = (try freePort(), try freePort())
        try """
        {"origins": ["http://127.0.0.1:1"], "public": {"address": "127.0.0.1", "port": \(port)},
         "metrics": {"address": "127.0.0.1", "port": \(metrics)},
         "apps": [{"id": "open", "require_attestation": false}]}
        """.write(to: folder + "/own.json")
        let program = try Program(["--state-dir", folder + "/state", "--config", folder + "/own.json"])
        while let line = await program.line(), !line.hasPrefix("tenon-authority ") {}
        let answer = try? await ask("GET", "http://127.0.0.1:\(metrics)/metrics")
        #expect(answer?.status == 200)
        let lines = String(decoding: answer?.body ?? [], as: UTF8.self).split(separator: "\n").map(String.init)
        let families = lines.filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
        #expect(families.contains("tenon_authority_healthy") && Set(families).count == families.count)
        #expect(lines.filter { $0.hasPrefix("# HELP ") }.map { $0.split(separator: " ")[2] } == families)
        let elsewhere = try? await ask("GET", "http://127.0.0.1:\(metrics)/v1/devices")
        #expect(elsewhere?.status == 404)
        #expect(try await ask("GET", "http://127.0.0.1:\(port)/metrics").status == 404)
        try await program.stop()
    }

    /// An operator can make the store forget the time of a clock that was ahead.
    @Test func aClockIsReset() async throws {
        let ahead = SystemClock().now().advanced(byMilliseconds: 7_200_000)
        struct Ahead: AuthorityClock {
            let instant: AuthorityInstant
            func now() -> AuthorityInstant { instant }
        }
        do {
            let state = try AuthorityFolder(folder + "/state")
            let former = try SQLiteStore(in: state, clock: Ahead(instant: ahead))
            await former.close()
            let store = try SQLiteStore(in: state)
            #expect(store.clock.stepBack > 7_100_000 && store.timeNotices.first?.contains("clock reset") == true)
            await store.close()
        }
        for isFirst in [true, false] {
            let ended = try await Program.run("clock", "reset", "--state-dir", folder + "/state")
            #expect(ended.code == 0 && ended.output.contains("and now starts from") == isFirst)
        }
        let again = try SQLiteStore(in: AuthorityFolder(folder + "/state"))
        #expect(again.clock.stepBack == 0 && again.timeNotices.isEmpty)
        await again.close()
    }

    /// A CA is made once. A roll makes a new key and keeps the name, unless the operator gives a new one.
    @Test func aCAThatIsRolledKeepsItsName() async throws {
        func names(_ output: String) throws -> [Bool] {
            let first = try #require(output.split(separator: "-----BEGIN CERTIFICATE-----\n").first)
            let text = first.prefix { $0 != "-" }.filter { $0 != "\n" }
            let certificate = try TextEncoding.base64.decode(text)
            return ["Example AK Issuer", "Tenon AK Issuer", "Later AK Issuer"].map {
                certificate.firstRange(of: Array($0.utf8)) != nil
            }
        }
        var ended = try await Program.run("ca", "init", "--state-dir", folder, "--name", "Example")
        #expect(ended.code == 0 && ended.output.contains("BEGIN CERTIFICATE"))
        #expect(try names(ended.output) == [true, false, false])
        ended = try await Program.run("ca", "init", "--state-dir", folder)
        #expect(ended.code == 5 && !ended.output.contains("BEGIN CERTIFICATE"))
        for (words, expected) in [
            ([], [true, false, false]), ([], [true, false, false]), (["--name", "Later"], [false, false, true]),
        ] {
            ended = try await Program(["ca", "roll", "--state-dir", folder] + words).ended()
            #expect(ended.code == 0 && ended.output.split(separator: "-----BEGIN CERTIFICATE-----").count == 3)
            #expect(try names(ended.output) == expected)
        }
    }

    /// What an operator reads when a device is refused: which app, from where, and why.
    @Test func aRefusalIsTold() async throws {
        let state = try state(in: folder, port: freePort(), isAttested: true)
        let program = try Program(["--state-dir", state])
        let url = await url(of: program)
        let answer = try await ask("POST", url + "/v1/device/challenge", #"{"app_id":"demo"}"#)
        let challenge = try #require(try JSON(parsing: answer.body)["challenge"]?.string)
        let key = TextEncoding.base64.encode(try SoftwareKey().publicKey.derRepresentation)
        let proof = TextEncoding.base64url.encode([0xa0])
        let body =
            #"{"app_id":"demo","challenge":"\#(challenge)","public_key":"\#(key)","proof":"\#(proof)"}"#
        let refused = try await ask("POST", url + "/v1/device/register", body)
        #expect(refused.status == 400)
        for _ in 0..<40 { _ = try await ask("POST", url + "/v1/device/register", "{}") }
        let output = try await program.stop()
        let lines = output.split(separator: "\n").filter { $0.contains(" refused: ") }
        let first = try #require(lines.first)
        for part in ["register", "app demo", "127.0.0.1", "INVALID_ATTESTATION", "rule 2"] {
            #expect(first.contains(part), "\(part) in \(first)")
        }
        #expect(!output.contains(challenge) && !output.contains(key))
        // A limited number of lines a second, and the number of refusals without a line.
        #expect(lines.count < 41 && output.contains(" more refusals "))
    }

    private static let open = """
        {"origins": ["https://auth.example"], "public": {"address": "0.0.0.0", "port": 0, "behind_proxy": true},
         "trusted_proxies": ["10.0.0.1"], "apps": [{"id": "demo", "require_attestation": false}]}
        """

    /// On an address that others reach, no keys are made automatically.
    @Test func noCA() async throws {
        try Self.open.write(to: folder + "/own.json")
        try await expect(
            "serve", "--config", folder + "/own.json", in: folder, code: 2, says: "tenon-authority ca init")
    }

    /// What is said of the CA of a demo is enough to serve other machines, and nothing less is.
    @Test func theCAOfADemoIsLetGo() async throws {
        let state = try state(in: folder, port: freePort(), isAttested: false)
        let demo = try Program(["--state-dir", state])
        #expect(await url(of: demo) != "")
        try await demo.stop()

        let own = folder + "/own.json"
        try Self.open.write(to: own)
        let mend = "move ca.json, authority.db* and audit.log* away"
        for words in [["serve", "--config", own], ["ca", "init"]] {
            let refused = try await Program(words + ["--state-dir", state]).ended()
            #expect(refused.code != 0 && refused.output.contains(mend), "\(refused)")
        }
        let moved = "cd \(state) && mkdir away && mv ca.json authority.db* audit.log* away"
        #expect(try await Program(at: "/bin/sh", ["-c", moved]).ended().code == 0)
        try await expect("ca", "init", in: state)
        let served = try Program(["--state-dir", state, "--config", own])
        #expect(await url(of: served) != "")
        try await served.stop()
    }

    @Test func aMistakeInTheConfiguration() async throws {
        try "{\n\"origins\": 1}".write(to: folder + "/authority.json")
        try await expect(in: folder, code: 2, says: "line 2")
    }

    /// A path that is typed starts where it is typed.
    @Test func whereATypedPathStarts() async throws {
        let here = try #require(getcwd(nil, 0))
        defer { free(here) }
        try await expect("--ek-roots", "none.pem", in: folder, code: 2, says: String(cString: here) + "/none.pem")
    }

    /// What the authority answers decides how the command ends.
    @Test(
        arguments: [
            (403, "NOT_ALLOWED", .storePermission), (400, "INVALID_REQUEST", .options),
            (503, "UNAVAILABLE", .storeFailed), (503, "OUTCOME_UNKNOWN", .outcomeUnknown),
        ] as [(Int, String, TenonError.Code)])
    func refusals(_ status: Int, _ code: String, _ expected: TenonError.Code) async throws {
        let socket = try ListeningSocket(path: folder + "/admin.sock", mode: 0o600)
        let server = try HTTPServer(socket) { _, _ in
            AuthorityAnswer(status: status, body: Array(#"{"error_code":"\#(code)","message":"A cause."}"#.utf8))
        }
        try await expect("allow", "--ek", "x", in: folder, code: expected.category.rawValue, says: "A cause.")
        await server.stop()
    }

    /// A start notices that the TPM does not hold the CA's key.
    @Test func theCAOfAnotherTPM() async throws {
        // A process of its own: a dead child hides the ends of others from the tests that wait for any child.
        defer { ["a", "b"].forEach(end) }
        for name in ["a", "b"] {
            let path = "\(folder)/\(name)"
            let text = """
                mkdir \(path) && swtpm socket --daemon --tpm2 --tpmstate dir=\(path) --pid file=\(path).pid \
                    --server type=unixio,path=\(path).tpm --ctrl type=unixio,path=\(path).tpm.ctrl \
                    --flags not-need-init,startup-clear
                """
            #expect(try await Program(at: "/bin/sh", ["-c", text]).ended().code == 0)
        }
        let state = try state(in: folder, port: freePort(), isAttested: false)
        let (own, other) = ("swtpm:path=\(folder)/a.tpm", "swtpm:path=\(folder)/b.tpm")
        try await expect("ca", "init", "--tpm", own, in: state, says: "BEGIN CERTIFICATE")
        let program = try Program(["--state-dir", state])
        #expect(await url(of: program) != "")
        try await program.stop()
        try TextFile.read(state + "/ca.json").replacing(own, with: other).write(to: state + "/ca.json")
        let next = try Program(["--state-dir", state])
        #expect(await url(of: next) == "")
        next.signal(SIGTERM)
        #expect(try await next.ended().code == TenonError.Category.gone.rawValue)
    }

    private func end(_ name: String) {
        guard let text = try? TextFile.read("\(folder)/\(name).pid"), let id = pid_t(text.prefix { $0 != "\n" }) else {
            return
        }
        kill(id, SIGTERM)
    }

    /// A reader that is behind gets all of an answer, even if its pipe must not block.
    @Test func aSlowReader() async throws {
        await #expect(processExitsWith: .success) { try await CommandTests.answerLateReader() }
    }

    private static func answerLateReader() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0 && fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0)
        var bytes = [UInt8](repeating: 0x78, count: 1 << 20)
        let (source, filled) = (ends[0], write(ends[1], bytes, bytes.count))
        try #require(filled > 0 && dup2(ends[1], 1) == 1)
        async let drained = onThread {
            usleep(200_000)
            var bytes = [UInt8](repeating: 0, count: filled)
            return read(source, &bytes, filled)
        }
        Output.text("the answer")
        #expect(await drained == filled)
        try Output.check()
        let count = read(source, &bytes, bytes.count)
        #expect(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == "the answer")
    }

    @Test(arguments: [
        ["brew"], ["-x"], ["serve", "--nope"], ["serve", "x"], ["--port"], ["--state-dir"], ["--port", "0"],
        ["--port", "x"],
        ["ca"], ["audit"], ["revoke"], ["revoke", "x"], ["revoke", "--json=1", "--ek", "x"],
        ["revoke", "x", "--ek", "y"], ["revoke", "--compromised", "--ek", "x"],
        ["devices", "--app", "a", "--app", "b"], ["allow"], ["ca", "init", "--name", ""], ["ca", "init", "x"],
        ["ca", "init", "--tpm", "cmd:true"], ["ca", "init", "--tpm", "x"],
        ["--tls-cert", "x"], ["--tls-key", "x"], ["audit", "verify", "--head", "1"],
        ["audit", "verify", "--head", "x:00"],
    ])
    func mistakes(_ words: [String]) async throws {
        let hasFolder = words.contains("--state-dir")
        let ended = try await Program(words + (hasFolder ? [] : ["--state-dir", folder])).ended()
        #expect(ended.code == 1)
        #expect(ended.output.hasPrefix("tenon-authority: ") && 1...2 ~= ended.output.split(separator: "\n").count)
    }

    @Test(arguments: [
        (["devcies"], "devcies is not a command.\n", "Did you mean: tenon-authority devices\n"),
        (
            ["ca", "inti"], "ca is not a whole command; it needs one of init, roll, show.\n",
            "Did you mean: tenon-authority ca init\n"
        ),
        (["xyzzy"], "xyzzy is not a command.\n", "See: tenon-authority --help\n"),
        (["revoke", "--compromized"], "--compromized is not an option of revoke.\n", "revoke --compromised\n"),
        (["serve", "--xyzzy"], "--xyzzy is not an option of serve.\n", "See: tenon-authority serve --help\n"),
        (["help", "revok"], "revok is not a command.\n", "Did you mean: tenon-authority revoke\n"),
    ])
    func guesses(_ words: [String], _ cause: String, _ mend: String) async throws {
        let ended = try await Program(words).ended()
        #expect(ended.code == 1 && ended.output.contains(cause) && ended.output.contains(mend))
    }

    /// Each command is in the help, and has its own help.
    @Test func help() async throws {
        let text = try await Program.run("--help").output
        #expect(try await Program.run("--version").output == "tenon-authority \(tenonVersion) with \(tenonBackend)\n")
        for verb in Verb.authority {
            #expect(text.contains("  " + verb.name))
            let ended = try await Program(verb.words + ["--help"]).ended()
            #expect(ended.code == 0)
            for flag in verb.flags { #expect(ended.output.contains("  \(flag.name)")) }
            #expect(ended.output.contains("\nexamples:\n  tenon-authority \(verb.name)"))
            #expect(try await Program(["help"] + verb.words).ended().output == ended.output)
            // The command accepts the members of the example.
            let words = try #require(verb.examples.first).split(separator: " ").dropFirst().prefix { $0 != ">" }
            let tried = try await Program(words.map(String.init) + ["--help"]).ended()
            #expect(tried.output == ended.output)
        }
    }

    @Test(
        arguments: [
            ("192.0.2.1", [], "192.0.2.1"), ("192.0.2.1", ["198.51.100.7"], "192.0.2.1"), ("10.0.0.1", [], "10.0.0.1"),
            ("10.0.0.1", ["198.51.100.7"], "198.51.100.7"), ("10.0.0.1", ["1.1.1.1, 198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1", ["1.1.1.1", "198.51.100.7,10.0.0.2"], "198.51.100.7"), ("10.0.0.1", ["10.0.0.2"], "10.0.0.2"),
            ("10.0.0.1", ["x, 10.0.0.2"], "10.0.0.2"), ("10.0.0.1", ["2001:db8::1"], "2001:db8::1"),
            ("10.0.0.1", ["1.1.1.1,"], "10.0.0.1"), ("10.0.0.1", ["1.1.1.1:80"], "10.0.0.1"),
            ("10.0.0.1", ["2001:DB8:0::1"], "2001:db8::1"), ("10.0.0.1", ["1.1.1.1, ::ffff:10.0.0.2"], "1.1.1.1"),
            ("", ["1.1.1.1"], ""),
        ] as [(String, [String], String)])
    func whoAsks(_ peer: String, _ forwarded: [String], _ expected: String) {
        let headers = forwarded.map { (name: "X-Forwarded-For", value: $0) }
        let asker = ForwardedAddress.asker(peer, headers, trusted: ["10.0.0.1", "10.0.0.2"])
        #expect(asker == expected)
        // Clients of a unix socket are believed only if the operator says so.
        #expect(ForwardedAddress.asker("", [("X-Forwarded-For", "1.1.1.1")], trusted: ["unix"]) == "1.1.1.1")
    }
}
