// SPDX-License-Identifier: Apache-2.0
import BenchRecords
import BenchSide
import Glibc
import Tenon

// Figure P4: what Swift adds to the calls of the core. `SwiftBench [--rounds N] [--smoke] [--json FILE]`

func check(_ isGood: Bool) throws { if !isGood { throw BenchFailure(what: "a call of the core failed") } }

func wrappers(_ rounds: Int, _ operations: Int) throws -> [Contest] {
    let bytes = [UInt8](repeating: 1, count: 32)
    let signature = try Signature(rawRepresentation: (0..<64).map { $0 % 32 == 31 ? 1 : 0 })
    let digest = try Rounds(rounds, of: operations) { count in
        for _ in 0..<count { _ = try Digest(hashing: bytes.span) }
    } over: {
        try check(side_digest($0))
    }
    var buffer = [UInt8](repeating: 0, count: 72)
    let caller = try Rounds(rounds, of: operations) { count in
        var span = buffer.mutableSpan
        for _ in 0..<count { _ = try signature.writeDERRepresentation(into: &span) }
    } over: {
        try check(side_der($0))
    }
    var total = 0
    let array = try Rounds(rounds, of: operations) { count in
        for _ in 0..<count { total += signature.derRepresentation.count }
    } over: {
        try check(side_der($0))
    }
    try check(total > 0)
    return [
        Contest(line: "swift-digest", what: "Swift over C, a digest, which is a value", bound: 50, rounds: digest),
        Contest(line: "swift-der", what: "Swift over C, DER into a caller's buffer", bound: 50, rounds: caller),
        Contest(line: "swift-der-array", what: "Swift over C, DER as an array", bound: 500, rounds: array),
    ]
}

func requests(_ device: Device, _ rounds: Int, _ operations: Int) throws -> [Contest] {
    let body = [UInt8](repeating: 1, count: 256)
    // Blocks, as a C caller does.
    func sign(_ count: Int) throws {
        for _ in 0..<count {
            let signed: SignedRequest = try device.identity.sign("POST", path: "/v1/hsi", body: body)
            try check(signed.headers.count == 6)
        }
    }
    let whole = try Rounds(rounds, of: operations, sign) { try check(side_sign($0)) }
    let beside = try Rounds(rounds, of: operations, sign) { try check(side_headers($0)) }
    return [
        Contest(
            line: "swift-sign-request", what: "Swift over C, signRequest over the core's signature", bound: 5000,
            rounds: whole),
        Contest(
            line: "swift-headers", what: "  the same over the core's nonce and headers, too", bound: nil, rounds: beside
        ),
    ]
}

func argument(after name: String) -> String? {
    CommandLine.arguments.firstIndex(of: name).flatMap { index in
        index + 1 < CommandLine.arguments.count ? CommandLine.arguments[index + 1] : nil
    }
}

let isSmoke = CommandLine.arguments.contains("--smoke")
let rounds = isSmoke ? 1 : argument(after: "--rounds").flatMap { Int($0) } ?? 101

/// Prints the table, and writes the JSON lines.
func bench() async throws {
    let device = try await Device()
    defer { withExtendedLifetime(device) {} }
    let contests = try wrappers(rounds, isSmoke ? 1 : 20_000) + requests(device, rounds, isSmoke ? 1 : 500)
    print("\nline                         Swift ns      C ns   more ns  P4")
    var records = Records()
    for contest in contests {
        print(contest.row(isSmoke: isSmoke))
        for line in contest.lines where !isSmoke { records.add(line) }
    }
    records.add(contests.map { $0.figure(isSmoke: isSmoke) })
    try records.write(to: argument(after: "--json"))
}

/// An assertion is looked at in a debug build only.
func isDebugBuild() -> Bool {
    var isDebug = false
    assert(
        {
            isDebug = true
            return true
        }())
    return isDebug
}

guard isSmoke || !isDebugBuild() else {
    print("SwiftBench: figures of a debug build say nothing: make bench-swift")
    exit(2)
}
do {
    try await bench()
} catch let error as TenonError {
    print("SwiftBench: \(error.description)")
    exit(1)
} catch {
    print("SwiftBench: \(error)")
    exit(1)
}
