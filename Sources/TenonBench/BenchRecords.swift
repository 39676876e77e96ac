// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import Tenon

/// The results of a bench, as JSON lines in the form of `Bench/core/report.c`. `Bench/run` reads them.
package struct BenchRecords: Sendable {
    package private(set) var all: [JSON] = []

    package init() {}

    package mutating func add(_ line: MeasuredLine) { all.append(line.record) }

    package mutating func add(_ figures: [BenchFigure]) { all += figures.map(\.record) }

    /// Adds the TPM commands and HTTP exchanges of one operation of a line.
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

    /// Writes all records, and replaces the file if it exists.
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

/// Results that `Bench/run` or `tenon bench --out` wrote: JSON lines, each with its kind.
package struct BenchResults: Sendable {
    /// Identifies a measured line: the build, the line, and who did it.
    struct Key: Hashable, Comparable, Sendable {
        let backend: String
        let line: String
        let by: String

        static func < (left: Key, right: Key) -> Bool {
            (left.backend, left.line, left.by) < (right.backend, right.line, right.by)
        }
    }

    /// The members of a machine that must be equal for a comparison.
    static let machineMembers = ["cpu", "compiler", "glibc", "governor", "tpm"]

    private(set) var machine: [String: String] = [:]
    /// The times of the rounds: at least one, each above 0.
    private(set) var rounds: [Key: [Double]] = [:]
    /// Instructions and TPM commands, which do not depend on the machine's load. Each is above 0.
    private(set) var counts: [String: Double] = [:]

    /// The range in which the ratio of two values is finite.
    private static let sane = 1e-6...1e18
    private static let maxLine = 4 << 20
    private static let maxValues = 200_000

    /// - Parameter name: the file's name, for messages.
    /// - Throws: the JSON reader's errors, or ``TenonError/Code/messageMember`` for a line that is not a result. The
    ///   message names the line.
    package init(parsing bytes: [UInt8], name: String) throws(TenonError) {
        var (isFirst, number, rest) = (true, 0, bytes[...])
        while !rest.isEmpty {
            number += 1
            let line = rest.prefix { $0 != 0x0a }
            rest = rest[line.endIndex...].dropFirst()
            do throws(TenonError) {
                let record = try JSON(parsing: Array(line), maxBytes: Self.maxLine, maxValues: Self.maxValues)
                try take(record, isFirst: &isFirst)
            } catch {
                throw TenonError(error.code, message: "\(name), line \(number): \(error.message)", mend: Self.mend)
            }
        }
        guard !rounds.isEmpty else {
            throw TenonError(.messageMember, message: "\(name) has no measured line.", mend: Self.mend)
        }
    }

    private static let mend = "Give a file that tenon bench --out FILE or Bench/run --json FILE wrote."

    private mutating func take(_ record: JSON, isFirst: inout Bool) throws(TenonError) {
        switch try Self.text("kind", of: record) {
        case "machine" where isFirst:
            isFirst = false
            for name in Self.machineMembers { machine[name] = record[name]?.string }
        case "line": try takeLine(record)
        case "count": try takeCount(Self.text("name", of: record), record["count"], "count")
        default: break
        }
    }

    private mutating func takeLine(_ record: JSON) throws(TenonError) {
        let key = Key(
            backend: try Self.text("backend", of: record), line: try Self.text("line", of: record),
            by: try Self.text("by", of: record))
        let times = record["rounds_ns"]?.array?.map { $0.number ?? 0 } ?? []
        guard !times.isEmpty, times.allSatisfy(Self.sane.contains) else { throw Self.refused("rounds_ns") }
        rounds[key] = times
        if let commands = record["commands"] {
            try takeCount("\(key.backend) \(key.line) \(key.by), TPM commands", commands, "commands")
        }
    }

    private mutating func takeCount(_ name: String, _ value: JSON?, _ member: String) throws(TenonError) {
        guard let count = value?.number, count == 0 || Self.sane.contains(count) else { throw Self.refused(member) }
        if count > 0 { counts[name] = count }
    }

    private static func text(_ name: String, of record: JSON) throws(TenonError) -> String {
        guard let text = record[name]?.string else { throw refused(name) }
        return text
    }

    private static func refused(_ member: String) -> TenonError {
        TenonError(.messageMember, message: "\(member) is missing or malformed.")
    }
}
