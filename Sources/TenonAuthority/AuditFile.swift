// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon

/// The file of the audit log: it grows by whole groups of lines or not at all. One thread uses it.
final class AuditFile {
    private let file: Int32
    /// Without what a crash left behind the last line.
    private(set) var length: Int
    /// Whether the file is longer than that: it is cut before anything else is written.
    private var isTorn = false
    /// After a failed fsync nobody knows what is on the disk, whatever the next one says: only a new start reads it.
    private var isLost = false

    /// What a crash may have left unfinished is at most this.
    private static let tailBytes = 1 << 20

    init(_ name: String, in folder: AuthorityFolder) throws(TenonError) {
        file = try folder.open(name)
        length = lseek(file, 0, SEEK_END)
        guard length >= 0 else { throw AuditFile.refusal }
    }

    deinit { close(file) }

    /// The last two lines, fewer if there are not so many. What a crash left behind them, which nobody was told is
    /// stored, does not count: a line without its end, and zeros that end the file, which the disk had not written yet.
    ///
    /// - Throws: ``TenonError/Code/auditChain`` for a NUL anywhere else, which no crash leaves.
    func lastLines() throws(TenonError) -> [[UInt8]] {
        let (whole, written) = (length, try lengthBeforeZeros())
        let start = max(0, written - AuditFile.tailBytes)
        let tail = try read(start..<written)
        let end = tail.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        guard end > 0 || start == 0 else { throw AuditChain.broken }
        length = start + end
        isTorn = length < whole
        return tail[..<end].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .dropLast().suffix(2).map(Array.init)
    }

    /// Cuts off what a crash left behind the last line.
    func mend() throws(TenonError) {
        guard isTorn else { return }
        try cut(to: length)
        isTorn = false
    }

    /// How much of the file is written: behind it there is nothing but zeros.
    private func lengthBeforeZeros() throws(TenonError) -> Int {
        var zero: Int?
        for start in stride(from: 0, to: length, by: AuditFile.tailBytes) {
            let piece = try read(start..<min(length, start + AuditFile.tailBytes))
            if zero == nil { zero = piece.firstIndex(of: 0).map { start + $0 } }
            guard let zero else { continue }
            guard piece[max(0, zero - start)...].allSatisfy({ $0 == 0 }) else { throw AuditFile.hole(at: zero) }
        }
        return zero ?? length
    }

    /// Stores the bytes; when this throws, none of them is in the file.
    func append(_ bytes: [UInt8]) throws(TenonError) {
        guard !isLost else { throw AuditFile.refusal }
        try mend()
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                pwrite(file, bytes.baseAddress.map { $0 + written }, bytes.count - written, length + written)
            }
            guard count > 0 || count < 0 && errno == EINTR else {
                try cut(to: length)
                throw AuditFile.refusal
            }
            written += max(0, count)
        }
        guard fdatasync(file) == 0 else {
            isLost = true
            throw AuditFile.refusal
        }
        length += bytes.count
    }

    private func cut(to length: Int) throws(TenonError) {
        guard ftruncate(file, length) == 0, fdatasync(file) == 0 else {
            isLost = true
            throw AuditFile.refusal
        }
        self.length = length
    }

    func read(_ range: Range<Int>) throws(TenonError) -> [UInt8] {
        let start = range.lowerBound
        var bytes = [UInt8](repeating: 0, count: range.count)
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes { bytes in
                pread(file, bytes.baseAddress.map { $0 + filled }, bytes.count - filled, start + filled)
            }
            guard count > 0 || count < 0 && errno == EINTR else { throw AuditFile.refusal }
            filled += max(0, count)
        }
        return bytes
    }

    private static func hole(at offset: Int) -> TenonError {
        TenonError(.auditChain, message: "The audit log has a NUL at byte \(offset), and a line behind it.")
    }

    static let refusal = TenonError(
        .storeFailed, message: "The audit log cannot be written: make room on its disk; if that is not it, start again."
    )
}
