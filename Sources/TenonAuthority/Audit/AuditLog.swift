// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization
package import Tenon

/// The audit log of one instance. A key of the admin role chains its lines, and the CA's key signs the head every 1,000
/// lines and every hour.
///
/// Because of the key, somebody who can write the file cannot change it unnoticed. Because of the signed heads, which
/// also go elsewhere, somebody who has the key as well cannot cut it short unnoticed.
package final class AuditLog: Sendable {
    package struct Options: Sendable {
        /// The instance's name, which is in each line.
        package var instance: String
        /// 32 random bytes that only the admin role reads.
        package var key: [UInt8]
        /// Whether an operator said to continue with a log that differs from the one that was written; the log records
        /// it.
        package var accepts: Bool
        /// Signs ``AuditHead/message`` with the CA's key, and sends head and signature to the journal. It may block. If
        /// it throws, it is called again later, and nothing else waits for it. With nil, nothing is signed.
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

    /// The most bytes of an event with an operator's reason, the only text of free length; a line is little longer.
    static let eventBytes = 1_700

    let options: Options
    let path: String
    private let end: AuditEnd
    /// The fault of a file that was moved away because the operator accepts it.
    let damage: TenonError?
    private let thread: BatchThread<AuditJob>

    /// Opens the log, or begins one. Blocks on the disk. Unfinished bytes that a crash left behind the last line stay
    /// until something is written: the database may know of more lines than there are, see ``DeviceStore/audit(in:)``.
    ///
    /// - Throws: ``TenonError/Code/auditChain`` when the last line is not the one that was written there, or there is a
    ///   NUL before it. If the operator accepts that, the file is moved away and another one begun.
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

    /// Writes a line. It is stored when this returns.
    ///
    /// - Throws: ``TenonError/Code/storeFailed`` when it is not stored: then the change must not be acknowledged.
    package func append(_ event: AuditEvent) async throws(TenonError) {
        try await submit(.line(event.members))
    }

    func append(_ members: [String: JSON]) async throws(TenonError) { try await submit(.line(members)) }

    static let tooLong = TenonError(
        .tooLarge, message: "A line of the audit log would be too long. Give a shorter reason.")

    /// Signs the head if lines were written since the last signature. A timer calls this, because only new lines make
    /// the log sign by itself.
    package func signHead() async throws(TenonError) { try await submit(.signedHead) }

    /// Cuts off the bytes behind the last line, now that a crash is known to have left them.
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

/// The end of a log, which its writer updates before it answers the callers that wait for their lines.
final class AuditEnd: Sendable {
    private let state: Mutex<AuditMark>

    init(_ mark: AuditMark) { state = Mutex(mark) }

    var mark: AuditMark { state.withLock { $0 } }

    func set(_ mark: AuditMark) { state.withLock { $0 = mark } }
}

/// Carries the writer to its thread, which is the only one to touch it from then on, and keeps the folder locked
/// meanwhile.
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
    /// The faults of an audit log, and what an operator can do about them.
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
    /// The length up to the end of the last line, without the bytes that a crash left behind it.
    private(set) var length: Int
    /// Whether the file is longer than that. Then it is cut before anything else is written.
    private var isTorn = false
    /// After a failed fsync, the content of the disk is unknown, whatever the next fsync returns; only a new start
    /// reads it.
    private var isLost = false

    /// The most bytes that a crash may have left unfinished.
    private static let tailBytes = 1 << 20

    init(_ name: String, in folder: AuthorityFolder) throws(TenonError) {
        file = try folder.open(name)
        length = lseek(file, 0, SEEK_END)
        guard length >= 0 else { throw AuditFile.refusal }
    }

    deinit { close(file) }

    /// The last two lines, or fewer if the file has fewer. This ignores bytes that a crash left behind them and that
    /// nobody was told are stored: a line without its end, and zeros at the end of the file that the disk had not
    /// written yet.
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

    /// Cuts off the bytes that a crash left behind the last line.
    func mend() throws(TenonError) {
        guard isTorn else { return }
        try cut(to: length)
        isTorn = false
    }

    /// The length of the file without the zeros at its end.
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
