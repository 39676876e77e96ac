// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A message of a numbered log, as it is kept and as a service gives it.
package struct LogEntry: Equatable, Sendable {
    package let sequence: Int64
    /// By which the next message names it.
    package let digest: String
    /// The message, in the profile's own form, without a line feed.
    package let line: [UInt8]

    package init(sequence: Int64, digest: String, line: [UInt8]) {
        self.sequence = sequence
        self.digest = digest
        self.line = line
    }
}

/// The last message of a log that a service took.
package struct LogTail: Equatable, Sendable {
    package let sequence: Int64
    package let digest: String

    package init(sequence: Int64, digest: String) { (self.sequence, self.digest) = (sequence, digest) }

    package init(_ entry: LogEntry) { self.init(sequence: entry.sequence, digest: entry.digest) }
}

/// A place in a log, and the keys there: what a message that follows is checked with.
package struct LogPosition: Sendable {
    package let tail: LogTail
    package let key: PublicKey
    /// To which the last message is bound.
    package let next: PublicKey

    package init(tail: LogTail, key: PublicKey, next: PublicKey) {
        self.tail = tail
        self.key = key
        self.next = next
    }
}

extension LogTail: RecordObject {
    static func coded(_ coder: RecordCoder, _ known: LogTail?) throws(TenonError) -> LogTail {
        try LogTail(
            sequence: coder.member("sequence", known?.sequence, .number),
            digest: coder.member("digest", known?.digest, .text { $0.isVisible(atMost: 128) }))
    }
}

// The log is a file beside the record: one line for each message that the service took, in the order of their numbers.
// Lines are only ever added. The record decides what was taken: a line comes first, and a crash between the two leaves a
// line that is written again as it is, because the message is sent again as it is.
extension RecordStore {
    private static let longestLog = 64 << 20

    /// The lines of the log, without one that was not finished.
    package func log() -> Reading<[[UInt8]]> {
        folder.read(name.log, atMost: Self.longestLog).map { file in
            file.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast().map(Array.init)
        }
    }

    /// Adds a message that the service took. The first message of another log moves the log that is there to the attic.
    package func append(_ entry: LogEntry, _ held: FileLock.Held) throws(TenonError) {
        try check(held)
        var lines = try foundLog()
        if entry.sequence == 0, let first = lines.first, first != entry.line {
            try folder.moveToAttic(name.log, as: name.log)
            lines = []
        }
        // After a gap the log is mended as a whole.
        guard entry.sequence == lines.count else { return }
        try add(entry.line, after: lines.reduce(0) { $0 + $1.count + 1 })
    }

    /// Replaces a log that was lost or damaged by what the service holds of it. What was there goes to the attic.
    package func replaceLog(_ entries: [LogEntry], _ held: FileLock.Held) throws(TenonError) {
        try check(held)
        try folder.moveToAttic(name.log, as: name.log)
        try folder.write(entries.flatMap { $0.line + [UInt8(ascii: "\n")] }, to: name.log)
    }

    private func foundLog() throws(TenonError) -> [[UInt8]] {
        switch log() {
        case .found(let lines): return lines
        case .absent: return []
        case .unreadable(let error): throw error
        }
    }

    /// Writes a line at the end, over one that a killed process has not finished.
    private func add(_ line: [UInt8], after size: Int) throws(TenonError) {
        let isNew = !folder.isThere(name.log)
        let file = try folder.open(name.log, flags: O_APPEND)
        defer { close(file) }
        try folder.calls.perform(.truncate, name.log) { ftruncate(file, size) }
        try folder.calls.write(line + [UInt8(ascii: "\n")], to: file, name.log)
        try folder.calls.perform(.sync, name.log) { fsync(file) }
        if isNew { try folder.sync() }
    }
}
