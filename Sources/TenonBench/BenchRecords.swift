// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import Tenon

/// What a bench measured, as JSON lines of the form of `Bench/core/report.c`, which `Bench/run` reads.
package struct BenchRecords: Sendable {
    package private(set) var all: [JSON] = []

    package init() {}

    package mutating func add(_ line: MeasuredLine) { all.append(line.record) }

    package mutating func add(_ figures: [BenchFigure]) { all += figures.map(\.record) }

    /// What an operation of a line sends.
    package mutating func add(commands: [String], exchanges: [String] = [], of line: String) {
        var object = JSONObject()
        object["kind"] = "commands"
        object["backend"] = .string(tenonBackend)
        object["line"] = .string(line)
        object["by"] = "tenon"
        object["commands"] = .string(commands.joined(separator: " "))
        object["operations"] = 1
        object["exchanges"] = exchanges.isEmpty ? nil : .array(exchanges.map(JSON.string))
        all.append(.object(object))
    }

    /// In the place of what was there.
    ///
    /// - Parameter path: nil writes nothing.
    /// - Throws: ``TenonError/Code/options``.
    package func write(to path: String?) throws(TenonError) {
        guard let path else { return }
        let mistake = TenonError(.options, message: "\(path) cannot be written.")
        guard let file = fopen(path, "we") else { throw mistake }
        var isWritten = true
        for record in all {
            let line = String(decoding: try record.encoded(), as: UTF8.self) + "\n"
            isWritten = fputs(line, file) >= 0 && isWritten
        }
        guard fclose(file) == 0, isWritten else { throw mistake }
    }
}
