// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization
package import Tenon

/// The audit log of one instance: lines that are chained with a key of the admin role, and whose head the CA's key signs
/// each 1,000 lines or hour.
///
/// Because of the key, somebody who can write the file cannot change it unnoticed. Because of the signed heads, which
/// also go elsewhere, somebody who has the key as well cannot cut it short unnoticed.
package final class AuditLog: Sendable {
    package struct Options: Sendable {
        /// Which instance this is; it is in each line.
        package var instance: String
        /// 32 random bytes that only the admin role reads.
        package var key: [UInt8]
        /// Whether an operator said to continue with a log that differs from what was written; this is recorded.
        package var accepts: Bool
        /// Signs ``AuditHead/message`` with the CA's key, and sends head and signature to the journal. It may block;
        /// when it throws it is asked again later, and nothing else waits for it. Nil signs nothing.
        package var sign: (@Sendable (AuditHead) throws(TenonError) -> [UInt8])?

        package init(
            instance: String, key: [UInt8], accepts: Bool = false,
            sign: (@Sendable (AuditHead) throws(TenonError) -> [UInt8])? = nil
        ) {
            self.instance = instance
            self.key = key
            self.accepts = accepts
            self.sign = sign
        }
    }

    package static let fileName = "audit.log"

    /// Of an event, with an operator's reason, the only text of any length; a line has little more.
    static let eventBytes = 1_700

    let options: Options
    let path: String
    private let end: AuditEnd
    /// What was wrong with a file that was moved away, as the operator accepts it.
    let damage: TenonError?
    private let thread: BatchThread<AuditJob>

    /// Opens the log, or begins one. Blocks on the disk. What a crash left behind the last line stays until something is
    /// written: the database may know of more lines than there are, see ``DeviceStore/audit(in:)``.
    ///
    /// - Throws: ``TenonError/Code/auditChain`` when the last line is not the one that was written there, or there is a
    ///   NUL before it. Where the operator accepts that, the file is moved away, and another begun.
    package init(
        in folder: AuthorityFolder, clock: any AuthorityClock, options: Options
    ) throws(TenonError) {
        self.options = options
        path = "\(folder.path)/\(AuditLog.fileName)"
        var damage: TenonError?
        let writer: AuditWriter
        do throws(TenonError) {
            writer = try AuditWriter(in: folder, clock: clock, options: options)
        } catch  where error.code == .auditChain && options.accepts {
            let other = try folder.moveAway(AuditLog.fileName)
            damage = TenonError(.auditChain, message: "\(error.message) It was renamed to \(other).")
            writer = try AuditWriter(in: folder, clock: clock, options: options)
        } catch {
            throw error.code == .auditChain ? error.withMend : error
        }
        self.damage = damage
        end = writer.end
        let owner = AuditOwner(writer, folder)
        thread = try BatchThread { jobs in
            owner.writer?.write(jobs)
        } finish: {
            owner.close()
        }
    }

    var instance: String { options.instance }

    /// Where the log ends, as far as it is on the disk.
    package var mark: AuditMark { end.mark }

    /// Writes a line, which is stored when this returns.
    ///
    /// - Throws: ``TenonError/Code/storeFailed`` when it is not stored: then the change must not be acknowledged.
    package func append(_ event: AuditEvent) async throws(TenonError) {
        try await submit(.line(event.members))
    }

    func append(_ members: [String: JSON]) async throws(TenonError) { try await submit(.line(members)) }

    static let tooLong = TenonError(
        .tooLarge, message: "A line of the audit log would be too long. Give a shorter reason.")

    /// Signs the head if lines were written since the last signature. Called by a timer, because a quiet log signs
    /// nothing by itself.
    package func signHead() async throws(TenonError) { try await submit(.signedHead) }

    /// Cuts off what a crash left behind the last line, now that it is known to be nothing else.
    func mend() async throws(TenonError) { try await submit(.mend) }

    /// Signs the head if necessary, and closes the file.
    package func close() async { await thread.end() }

    private func submit(_ wish: AuditJob.Wish) async throws(TenonError) {
        let error: TenonError? = await withCheckedContinuation { continuation in
            let job = AuditJob(wish: wish) { continuation.resume(returning: $0) }
            if !thread.add(job) { continuation.resume(returning: .closed) }
        }
        if let error { throw error }
    }
}

struct AuditJob: Sendable {
    enum Wish: Sendable {
        case line([String: JSON])
        case signedHead
        case mend
    }

    let wish: Wish
    let finish: @Sendable (TenonError?) -> Void

    var members: [String: JSON]? { if case .line(let members) = wish { members } else { nil } }
}

/// Where a log ends: its writer says so before it tells those who wait for their lines.
final class AuditEnd: Sendable {
    private let state: Mutex<AuditMark>

    init(_ mark: AuditMark) { state = Mutex(mark) }

    var mark: AuditMark { state.withLock { $0 } }

    func set(_ mark: AuditMark) { state.withLock { $0 = mark } }
}

/// Carries the writer to its thread, which alone touches it from then on, and holds the folder as long.
private final class AuditOwner: Sendable {
    nonisolated(unsafe) private(set) var writer: AuditWriter?
    private nonisolated(unsafe) var folder: AuthorityFolder?

    init(_ writer: sending AuditWriter, _ folder: AuthorityFolder) {
        self.writer = writer
        self.folder = folder
    }

    func close() {
        if writer?.hasBegun == true { writer?.signHead() }
        writer = nil
        folder = nil
    }
}

extension TenonError {
    /// What is wrong with an audit log, and what an operator can do about it.
    var withMend: TenonError {
        TenonError(
            code,
            message: """
                \(message) Nothing was written.
                Restore audit.log, or check it and continue with `serve --accept-audit-log`, which records this in the log.
                """)
    }
}

/// The file of the audit log: it grows by whole groups of lines or not at all. One thread uses it.
final class AuditFile {
    private let file: Int32
    /// Without what a crash left behind the last line.
    private(set) var length: Int
    /// Whether the file is longer than that: it is cut before anything else is written.
    private var isTorn = false
    /// After a failed fsync, what is on the disk is unknown, whatever the next fsync returns; only a new start reads
    /// it.
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
        TenonError(.auditChain, message: "The audit log has a NUL at byte \(offset), and a line after it.")
    }

    static let refusal = TenonError(
        .storeFailed, message: "The audit log cannot be written. Free space on its disk; if that fails, restart."
    )
}
