// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonBench
import Testing

/// The meaning of slower, with invented results.
@Suite struct BenchComparisonTests {
    /// A run of a bench, in the form of its file.
    struct Run {
        var tenon = 500.0
        var raw = 490.0
        var peer = 3000.0
        var alone = 10.0
        var instructions = 3000
        var commands = 1.0
        var spread = 0.02
        var cpu = "A"
        var tpm: String?

        func with(_ change: (inout Run) -> Void) -> Run {
            var run = self
            change(&run)
            return run
        }

        var records: [String] {
            let tpm = tpm.map { #","tpm":"\#($0)""# } ?? ""
            return [
                #"{"kind":"machine","compiler":"gcc","cpu":"\#(cpu)","governor":"none","glibc":"2","backend":"mbedtls"\#(tpm)}"#,
                #"{"kind":"peer","name":"absent","backend":"mbedtls"}"#,
                line("tpm-sign", "tenon", tenon, commands), line("tpm-sign", "raw", raw, 1),
                line("tpm-sign", "esys", peer, 3), line("sign-threads-4", "tenon", 20),
                line("request-1k", "tenon", alone),
                #"{"kind":"figure","figure":"P1","value":null,"reached":false}"#,
                #"{"kind":"count","name":"mbedtls sign tenon","count":\#(instructions)}"#,
            ]
        }

        /// Rounds that lie evenly around a time.
        private func line(_ name: String, _ by: String, _ microseconds: Double, _ commands: Double? = nil) -> String {
            let spread = name == "sign-threads-4" ? 0.02 : spread
            let rounds = (0..<41).map { 1e3 * microseconds * (1 + spread * (Double($0) / 20 - 1)) }
            let sent = commands.map { #","commands":\#($0)"# } ?? ""
            return
                #"{"kind":"line","backend":"mbedtls","line":"\#(name)","by":"\#(by)","rounds_ns":\#(rounds)\#(sent)}"#
        }

        var results: BenchResults { get throws { try BenchResults(parsing: bytes(records), name: "a.json") } }
    }

    static func bytes(_ lines: [String]) -> [UInt8] { Array(lines.map { $0 + "\n" }.joined().utf8) }

    static let cases: [(what: String, run: Run, isRegressed: Bool, word: String)] = [
        ("the same again", Run(), false, "noise"),
        ("slower", Run(tenon: 600), true, "SLOWER"),
        ("faster", Run(tenon: 400), false, "faster"),
        ("a machine that is slower, and all with it", Run(tenon: 1000, raw: 980, peer: 6000), false, "noise"),
        ("a peer that is slower", Run(peer: 4000), false, "SLOWER"),
        ("slower, but less than it varies", Run(alone: 11, spread: 0.3), false, "noise"),
        ("slower by less than the margin", Run(alone: 10.2, spread: 0.001), false, "within margin"),
        ("a line without a peer that is slower", Run(alone: 13), false, "slower, by the clock"),
        ("more instructions", Run(instructions: 3200), true, "3,000 -> 3,200 (+6.7%) REGRESSED"),
        ("more TPM commands", Run(commands: 2), true, "tpm-sign tenon, TPM commands: 1 -> 2 (+100.0%) REGRESSED"),
        ("another machine", Run(tenon: 600, cpu: "B"), false, "two machines"),
        ("another TPM", Run(tenon: 600, tpm: "IFX"), false, "two TPMs"),
    ]

    @Test(arguments: cases.indices) func judges(_ index: Int) throws {
        let (what, run, isRegressed, word) = Self.cases[index]
        let comparison = try Comparison(Run().results, run.results)
        #expect(comparison.isRegressed == isRegressed, "\(what)")
        #expect(comparison.text.contains { $0.contains(word) }, "\(what): \(comparison.text)")
        let json = try JSON(parsing: comparison.json.encoded())
        #expect(json["regressed"] == .bool(isRegressed), "\(what)")
    }

    @Test func saysWhatIsInOneAlone() throws {
        let some = try BenchResults(parsing: Self.bytes(Array(Run().records.prefix(5))), name: "b.json")
        let comparison = try Comparison(Run().results, some)
        #expect(comparison.text.contains { $0.hasPrefix("request-1k") && $0.hasSuffix("only in A") })
        #expect(try Comparison(some, Run().results).text.contains { $0.hasSuffix("only in B") })
    }

    @Test func tellsHowFarTheyOverlap() throws {
        let comparison = try Comparison(Run().results, Run(peer: 6200).results)
        let lines = try #require(comparison.json["lines"]?.array)
        let peer = try #require(lines.first { $0["by"] == "esys" })
        #expect(peer["beside"] == "raw" && peer["overlap"] == .number(0) && peer["verdict"] == "slower")
        #expect(peer["speed"] == .number(0.4839))
        let own = try #require(lines.first { $0["line"] == "request-1k" })
        #expect(own["beside"]?.isNull == true && own["overlap"] == .number(1) && own["speed"] == .number(1))
    }

    @Test(arguments: ["mbedtls", "openssl"]) func theLibraryOfTheBuildIsBeside(_ backend: String) throws {
        let lines = ["tenon", "openssl", "mbedtls"].map {
            #"{"kind":"line","backend":"\#(backend)","line":"sign","by":"\#($0)","rounds_ns":[1000,1001,1002]}"#
        }
        let results = try BenchResults(parsing: Self.bytes(lines), name: "a.json")
        let compared = try #require(try Comparison(results, results).json["lines"]?.array)
        #expect(compared.first { $0["by"] == "tenon" }?["beside"]?.string == backend)
    }

    @Test func nothingInCommon() throws {
        let other = Self.bytes([Run().records[6].replacing("request-1k", with: "other")])
        let results = try BenchResults(parsing: other, name: "b.json")
        let first = try Run().results
        let error = #expect(throws: TenonError.self) { try Comparison(first, results) }
        #expect(error?.code == .options)
        #expect(error?.mend != nil && error?.message.contains("\n") == false)
    }

    private static let good = #"{"kind":"line","backend":"b","line":"l","by":"tenon","rounds_ns":[1.5]}"#

    @Test(arguments: [
        ("", TenonError.Code.messageMember, "x.json has"), ("\n", .jsonTruncated, "line 1:"),
        ("hello", .jsonSyntax, "line 1:"), ("{}", .messageMember, "kind"), ("[1]", .messageMember, "kind"),
        (#"{"kind":7}"#, .messageMember, "kind"), (#"{"kind":"peer","name":"x"}"#, .messageMember, "x.json has"),
        (good + "\n" + good.dropLast(9), .jsonTruncated, "line 2:"),
        (good.replacing("[1.5]", with: "[]"), .messageMember, "rounds_ns"),
        (good.replacing("1.5", with: "NaN"), .jsonNotFinite, "line 1:"),
        (good.replacing("1.5", with: "null"), .messageMember, "rounds_ns"),
        (good.replacing("1.5", with: "0"), .messageMember, "rounds_ns"),
        (good.replacing("1.5", with: "-1"), .messageMember, "rounds_ns"),
        (good.replacing("1.5", with: "1e300"), .messageMember, "rounds_ns"),
        (good.replacing("rounds_ns", with: "rounds"), .messageMember, "rounds_ns"),
        (good.replacing("by", with: "of"), .messageMember, "by is missing"),
        (good.replacing("[1.5]", with: #"[1],"commands":"x""#), .messageMember, "commands"),
        (#"{"kind":"count","name":"n","count":-1}"#, .messageMember, "count"),
        (good + "\n\n" + good, .jsonTruncated, "line 2:"),
    ])
    func refuses(_ text: String, _ code: TenonError.Code, _ word: String) {
        let error = #expect(throws: TenonError.self) { try BenchResults(parsing: Array(text.utf8), name: "x.json") }
        #expect(error?.code == code, "\(error?.message ?? "")")
        #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
        #expect(error?.mend != nil && error?.message.contains("\n") == false)
        #expect(error?.code.category == .format)
    }

    @Test func aLineThatIsTooLong() {
        let long = String(repeating: " ", count: 5 << 20) + Self.good
        let error = #expect(throws: TenonError.self) { try BenchResults(parsing: Array(long.utf8), name: "x.json") }
        #expect(error?.code == .jsonTooLarge)
    }
}
