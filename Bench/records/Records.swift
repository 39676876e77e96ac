// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import Tenon

/// What a bench in Swift measured, as JSON lines of the form of `Bench/core/report.c`: `Bench/run --with FILE` takes them.
package struct Records {
    #if OpenSSL
        package static let backend = "openssl"
    #else
        package static let backend = "mbedtls"
    #endif

    private var all: [JSON] = []

    package init() {}

    package mutating func add(_ line: Line) { all.append(line.json) }

    package mutating func add(_ figures: [Figure]) { all += figures.map(\.json) }

    /// What a line sends, which is known after one operation.
    package mutating func add(commands: [String], exchanges: [String], of line: String) {
        all.append([
            "kind": "commands", "backend": .string(Records.backend), "line": .string(line), "by": "tenon",
            "commands": .string(commands.joined(separator: " ")), "operations": 1,
            "exchanges": .array(exchanges.map(JSON.string)),
        ])
    }

    /// - Parameter path: nil writes nothing.
    /// - Throws: ``TenonError/Code/options``.
    package func write(to path: String?) throws(TenonError) {
        guard let path else { return }
        let mistake = TenonError(.options, message: "\(path) cannot be written.")
        guard let file = fopen(path, "w") else { throw mistake }
        for record in all { fputs(String(decoding: try record.encoded(), as: UTF8.self) + "\n", file) }
        guard fclose(file) == 0 else { throw mistake }
    }
}

extension JSON {
    /// A number as it is read best: whole ones have no fraction.
    init(value: Double) {
        self = value == value.rounded() && abs(value) < 1e15 ? .integer(Int64(value)) : .number(value)
    }
}
