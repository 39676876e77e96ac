// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import Tenon

/// Reads an audit log again, line by line.
package struct AuditVerifier {
    package struct Summary: Equatable, Sendable {
        package var lines: Int64
        /// The last line that a signed head covers. Somebody with the key could have cut off lines behind it.
        package var signedLines: Int64
        /// Lines with which an operator continued although the log before them was not the one that was written.
        package var acceptances: [Int64] = []
    }

    private var chain: AuditChain
    /// The last line that the database knows.
    private let kept: AuditMark?
    /// The `mac`s of lines that must be there, by line number: those of heads that were sent elsewhere.
    private var told: [Int64: Digest]
    private let checkHead: (AuditHead, [UInt8]) throws(TenonError) -> Void
    private var rest: [UInt8] = []
    package private(set) var summary = Summary(lines: 0, signedLines: 0)

    /// - Parameters:
    ///   - kept: the end of the log as the database knows it, if it was asked.
    ///   - checkHead: throws when the signature over ``AuditHead/message`` is not the CA's.
    package init(
        instance: String, key: [UInt8], told: [Int64: Digest] = [:], kept: AuditMark? = nil,
        checkHead: @escaping (AuditHead, [UInt8]) throws(TenonError) -> Void
    ) throws(TenonError) {
        chain = try AuditChain(instance: instance, key: key)
        self.told = told
        self.kept = kept
        self.checkHead = checkHead
    }

    /// Takes the next bytes of the file.
    ///
    /// - Throws: ``TenonError/Code/auditChain`` with the number of the first line that is wrong, or whatever the check
    ///   of a head throws.
    package mutating func update(_ bytes: [UInt8]) throws(TenonError) {
        rest += bytes
        var start = 0
        while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
            try verify(Array(rest[start..<end]))
            start = end + 1
        }
        rest.removeFirst(start)
    }

    /// Checks that the log ends here with a whole line.
    package func finish() throws(TenonError) -> Summary {
        guard rest.isEmpty else { throw broken }
        if let kept, kept.sequence > summary.lines {
            throw TenonError(
                .auditChain,
                message: "The audit log ends at line \(summary.lines), but the database knows of \(kept.sequence).")
        }
        if let line = told.keys.min() {
            throw TenonError(
                .auditChain, message: "Line \(line) of the audit log differs, or the log had more lines.")
        }
        return summary
    }

    private mutating func verify(_ line: [UInt8]) throws(TenonError) {
        let head = chain.head
        guard let json = try? chain.verify(line) else { throw broken }
        if json["event"]?.string == AuditWriter.headEvent {
            guard let signature = json["signature"]?.bytes else { throw broken }
            try checkHead(head, signature)
            summary.signedLines = head.sequence
        }
        if json["event"]?.string == AuditEvent.Kind.logAccepted.rawValue {
            summary.acceptances.append(chain.head.sequence)
        }
        if let kept, kept.sequence == chain.head.sequence, kept.mac != chain.head.mac {
            throw TenonError(
                .auditChain,
                message: "Line \(kept.sequence) of the audit log is not the one that the database knows.")
        }
        if told[chain.head.sequence] == chain.head.mac { told[chain.head.sequence] = nil }
        summary.lines += 1
    }

    private var broken: TenonError {
        TenonError(
            .auditChain,
            message: "Line \(summary.lines + 1) of the audit log does not follow from the lines before it.")
    }
}

/// Compares a log with the database's knowledge of it. It blocks on the disk; it is used at a start, before anything is
/// written.
///
/// A line is on the disk before the database knows of it, and a change is in the database before its line is written.
/// So after a crash, the log has every line that the database knows, and the database has the change of every later
/// line.
struct AuditComparison {
    /// The database's knowledge of a log.
    struct Knowledge: Sendable {
        /// The last line that it knows.
        var latest: AuditMark?
        /// The last line that it knew when lines were last removed from it. It still has the change of every line
        /// behind this one.
        var swept: AuditMark?
        /// The ids of the lines that it still holds.
        var waiting: Set<String> = []
    }

    /// The ids of waiting lines that are in the log already.
    private(set) var written: Set<String> = []
    /// The reason why the log is not the one that was written; nil if it is.
    private(set) var fault: TenonError?

    private let log: AuditLog
    private let mark: AuditMark

    init(_ log: AuditLog, _ known: Knowledge) throws(TenonError) {
        self.log = log
        mark = log.mark
        let found = try known.latest.flatMap { latest throws(TenonError) in try fault(against: latest) }
        fault = log.damage ?? found
        let unknown = try readChanges(known)
        if fault == nil && unknown > 0 {
            fault = AuditComparison.fault(
                "The audit log of \(log.instance) records \(unknown) changes that the database does not have.")
        }
    }

    /// The event that the log records when an operator continues it.
    func record(_ fault: TenonError, _ known: Knowledge) -> AuditEvent {
        var details: [String: JSON] = ["fault": .string(fault.message), "found_lines": .integer(mark.sequence)]
        details["expected_lines"] = known.latest.map { .integer($0.sequence) }
        details["expected_mac"] = known.latest.map { .string($0.mac.description) }
        return AuditEvent(.logAccepted, details: details)
    }

    private static func fault(_ what: String) -> TenonError { TenonError(.auditChain, message: what) }

    private func fault(against latest: AuditMark) throws(TenonError) -> TenonError? {
        guard latest.sequence > 0 else { return nil }
        guard mark.sequence >= latest.sequence, mark.bytes >= latest.bytes else {
            let end = mark.sequence == 0 ? "is missing or empty" : "ends at line \(mark.sequence)"
            return AuditComparison.fault(
                "The audit log of \(log.instance) \(end), but the database knows of \(latest.sequence) lines.")
        }
        let other = AuditComparison.fault(
            "Line \(latest.sequence) of the audit log of \(log.instance) is not the one that the database knows.")
        var last: JSON?
        try lines(from: max(0, latest.bytes - AuditComparison.longestLine)) { line, end in
            if end == latest.bytes { last = try? JSON(parsing: Array(line)) }
        }
        guard let last, last["sequence"]?.integer == latest.sequence, AuditChain.mac(in: last) == latest.mac else {
            return other
        }
        let head = AuditHead(instance: log.instance, sequence: latest.sequence, mac: latest.mac)
        var (chain, isWhole) = (AuditChain(after: head, key: log.options.key), true)
        try lines(from: latest.bytes) { line, _ in
            if isWhole { isWhole = (try? chain.verify(Array(line))) != nil }
        }
        return isWhole
            ? nil
            : AuditComparison.fault(
                "Line \(chain.head.sequence + 1) of the audit log does not follow from the line before it."
            )
    }

    /// Finds the waiting lines, and counts those that the database should have and does not.
    private mutating func readChanges(_ known: Knowledge) throws(TenonError) -> Int {
        guard !known.waiting.isEmpty || known.swept != nil else { return 0 }
        // Inside a JSON string, a backslash precedes each quotation mark.
        let name = Array("\"\(OutboxLine.nameMember)\":\"".utf8)
        var (found, unknown): (Set<String>, Int) = ([], 0)
        try lines(from: known.waiting.isEmpty ? known.swept?.bytes ?? 0 : 0) { line, end in
            guard let start = AuditComparison.end(of: name, in: line) else { return }
            let id = String(decoding: line[start...].prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
            if known.waiting.contains(id) {
                found.insert(id)
            } else if let swept = known.swept, end > swept.bytes {
                unknown += 1
            }
        }
        written = found
        return unknown
    }

    private static func end(of mark: [UInt8], in line: ArraySlice<UInt8>) -> Int? {
        var place = line.startIndex
        while let quote = line[place...].firstIndex(of: mark[0]) {
            if line[quote...].starts(with: mark) { return quote + mark.count }
            place = quote + 1
        }
        return nil
    }

    /// Longer than any line.
    private static let longestLine: Int64 = 8_192

    /// Gives each whole line from an offset on, with the offset at which it ends.
    private func lines(from start: Int64, _ body: (ArraySlice<UInt8>, Int64) -> Void) throws(TenonError) {
        guard start < mark.bytes else { return }
        guard let file = fopen(log.path, "re") else { throw AuditFile.refusal }
        defer { fclose(file) }
        guard fseek(file, Int(start), SEEK_SET) == 0 else { throw AuditFile.refusal }
        var rest: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 20)
        var place = start
        while place < mark.bytes, case let count = fread(&piece, 1, min(piece.count, Int(mark.bytes - place)), file),
            count > 0
        {
            let first = place - Int64(rest.count)
            rest += piece[..<count]
            place += Int64(count)
            var end = 0
            for line in rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast() {
                end = line.endIndex + 1
                body(line, first + Int64(end))
            }
            rest.removeFirst(end)
        }
        guard ferror(file) == 0 else { throw AuditFile.refusal }
    }
}
