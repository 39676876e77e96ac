// SPDX-License-Identifier: Apache-2.0
import BenchSide
import Glibc
import Tenon
import TenonBench

// Figure P4: what Swift adds to the calls of the core. `SwiftBench [--smoke]` writes what Bench/run reads.

func check(_ isGood: Bool) throws(TenonError) {
    if !isGood { throw TenonError(.signatureInvalid, message: "A call of the core failed.") }
}

func wrappers(_ rounds: Int, _ many: Int) throws(TenonError) -> [Contest] {
    let bytes = [UInt8](repeating: 1, count: 32)
    let signature = try Signature(rawRepresentation: (0..<64).map { $0 % 32 == 31 ? 1 : 0 })
    var buffer = [UInt8](repeating: 0, count: 72)
    let der: Rounds.Operation = { () throws(TenonError) in try check(side_der(many)) }
    return [
        try Contest("swift-digest", "Swift over C, a digest, which is a value", bound: 50, rounds: rounds, many: many) {
            () throws(TenonError) in
            for _ in 0..<many { _ = try Digest(hashing: bytes.span) }
        } over: { () throws(TenonError) in
            try check(side_digest(many))
        },
        try Contest("swift-der", "Swift over C, DER into a caller's buffer", bound: 50, rounds: rounds, many: many) {
            () throws(TenonError) in
            var span = buffer.mutableSpan
            for _ in 0..<many { _ = try signature.writeDERRepresentation(into: &span) }
        } over: { () throws(TenonError) in
            try der()
        },
        try Contest("swift-der-array", "Swift over C, DER as an array", bound: 500, rounds: rounds, many: many) {
            () throws(TenonError) in
            var total = 0
            for _ in 0..<many { total += signature.derRepresentation.count }
            try check(total > 0)
        } over: { () throws(TenonError) in
            try der()
        },
    ]
}

func requests(_ device: Device, _ rounds: Int, _ many: Int) throws(TenonError) -> [Contest] {
    let body = [UInt8](repeating: 1, count: 256)
    // Blocks, as a C caller does.
    let sign: Rounds.Operation = { () throws(TenonError) in
        for _ in 0..<many {
            let signed: SignedRequest = try device.identity.sign("POST", path: "/v1/hsi", body: body)
            try check(signed.headers.count == 6)
        }
    }
    return [
        try Contest(
            "swift-sign-request", "Swift over C, signRequest over the core's signature", bound: 5000, rounds: rounds,
            many: many,
            sign
        ) { () throws(TenonError) in try check(side_sign(many)) },
        try Contest(
            "swift-headers", "  the same over the core's nonce and headers, too", rounds: rounds, many: many, sign
        ) { () throws(TenonError) in try check(side_headers(many)) },
    ]
}

let isSmoke = CommandLine.arguments.contains("--smoke")
let rounds = isSmoke ? 1 : 101

func bench() async throws {
    let device = try await Device()
    defer { withExtendedLifetime(device) {} }
    let contests = try wrappers(rounds, isSmoke ? 1 : 20_000) + requests(device, rounds, isSmoke ? 1 : 500)
    var records = BenchRecords()
    for line in contests.flatMap(\.lines) where !isSmoke { records.add(line) }
    records.add(contests.map { $0.figure(isSmoke: isSmoke) })
    try records.write(to: "/dev/stdout")
}

func end(_ message: String, _ code: Int32) -> Never {
    _ = write(2, message, message.utf8.count)
    exit(code)
}

guard isSmoke || !BenchBuild.isDebug else {
    end("SwiftBench: figures of a debug build say nothing: make bench-swift\n", 2)
}
do { try await bench() } catch { end("SwiftBench: \(error)\n", 1) }
