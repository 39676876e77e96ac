// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon

/// The file of the audit log: it grows by whole groups of lines or not at all. One thread uses it.
final class AuditFile {
    private let file: Int32
    private var length: Int
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
    /// stored, is cut off: a line without its end, and what the disk had not written yet and reads as zeros.
    func lastLines() throws(TenonError) -> [[UInt8]] {
        let start = max(0, length - AuditFile.tailBytes)
        var tail = try read(from: start)
        if let zero = tail.firstIndex(of: 0) { tail.removeSubrange(zero...) }
        let end = tail.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        guard end > 0 || start == 0 else { throw AuditChain.broken }
        if start + end < length { try cut(to: start + end) }
        return tail[..<end].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .dropLast().suffix(2).map(Array.init)
    }

    /// Stores the bytes; when this throws, none of them is in the file.
    func append(_ bytes: [UInt8]) throws(TenonError) {
        guard !isLost else { throw AuditFile.refusal }
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

    private func read(from start: Int) throws(TenonError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: length - start)
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

    static let refusal = TenonError(
        .storeFailed, message: "The audit log cannot be written: make room on its disk; if that is not it, start again."
    )
}
