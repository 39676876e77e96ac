// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TestFolders
import Testing

@testable import TenonAuthorityServer

/// The load for authorities, as it is typed.
@Suite(.timeLimit(.minutes(1))) struct LoadCommandTests {
    private func bench(_ words: String...) async throws -> (code: Int32, output: String) {
        let bundle = try #require(CommandLine.arguments.first { $0.hasSuffix(".xctest") })
        let folder = bundle.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
        return try await Program(at: folder + "/AuthorityBench", words).ended()
    }

    /// A line of JSON for each phase, with what was refused.
    @Test func threePhases() async throws {
        try await withFolder { folder in
            let port = try ListeningSocket(address: "127.0.0.1", port: 0).port
            let text = """
                {"origins": ["http://127.0.0.1:\(port)"], "public": {"address": "127.0.0.1", "port": \(port)},
                 "limits": {"requests_per_device": 3}, "apps": [{"id": "demo", "require_attestation": false}]}
                """
            try text.write(to: folder + "/authority.json")
            let program = try Program(["--state-dir", folder + "/state", "--config", folder + "/authority.json"])
            let url = "http://127.0.0.1:\(port)"
            let ended = try await bench(
                "--instances", url, "--devices", "4", "--requests", "20", "--connections", "2")
            try await program.stop()
            #expect(ended.code == 0, "\(ended.output)")
            let json = try ended.output.split(separator: "\n").map { try JSON(parsing: Array($0.utf8)) }
            #expect(
                json.map { $0["line"]?.string } == ["authority-register", "authority-request", "authority-rotate"])
            // A challenge and its answer are two.
            #expect(json.map { $0["operations"]?.integer } == [8, 20, 4])
            // The form that Bench/run takes.
            #expect(
                json.allSatisfy {
                    $0["kind"] == "line" && $0["by"] == "tenon" && $0["percentiles_ns"]?.array?.count == 101
                })
            #expect(json.allSatisfy { ($0["p50_ns"]?.number ?? 0) >= ($0["min_ns"]?.number ?? .infinity) })
            let refused = json.reduce(0) { $0 + ($1["errors"]?["429 RATE_LIMITED"]?.integer ?? 0) }
            // Each device is remembered with three requests, be they signed or rotations.
            #expect(refused == 20 + 4 - 4 * 3)
        }
    }

    @Test func whatCannotBeRun() async throws {
        var ended = try await bench("--instances", "https://example.com")
        #expect(ended.code == 1 && ended.output.hasPrefix("AuthorityBench: https://example.com is not"))
        ended = try await bench("--devices", "0")
        #expect(ended.code == 1)
        ended = try await bench()
        #expect(ended.code == 1 && ended.output.contains("--instances"))
    }
}
