// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// What Bench/run or `tenon bench --out` wrote, read again: JSON lines, each with its kind.
package struct BenchResults: Sendable {
    /// What was measured, and by whom.
    struct Key: Hashable, Comparable, Sendable {
        let backend: String
        let line: String
        let by: String

        static func < (left: Key, right: Key) -> Bool {
            (left.backend, left.line, left.by) < (right.backend, right.line, right.by)
        }
    }

    /// What results may be compared by.
    static let machineMembers = ["cpu", "compiler", "glibc", "governor", "tpm"]

    private(set) var machine: [String: String] = [:]
    /// The times of the rounds, each over 0, one at least.
    private(set) var rounds: [Key: [Double]] = [:]
    /// Instructions and TPM commands, which do not depend on the load; each over 0.
    private(set) var counts: [String: Double] = [:]

    /// Numbers whose ratios are numbers.
    private static let sane = 1e-6...1e18
    private static let maxLine = 4 << 20
    private static let maxValues = 200_000

    /// - Parameter name: of the file, for messages.
    /// - Throws: with the line of the file: what is no JSON, ``TenonError/Code/messageMember`` for what is no result.
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
                throw TenonError(error.code, message: "\(name), line \(number): \(error.message)\n\(Self.mend)")
            }
        }
        guard !rounds.isEmpty else {
            throw TenonError(.messageMember, message: "\(name) holds no line that was measured.\n\(Self.mend)")
        }
    }

    private static let mend = "Give what tenon bench --out FILE or Bench/run --json FILE wrote."

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
        TenonError(.messageMember, message: "\(member) is missing, or is not what it has to be.")
    }
}
