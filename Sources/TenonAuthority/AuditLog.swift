// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// The audit log of one instance (security.md F5): lines that are chained with a key of the admin role, and whose head
/// the CA's key signs each 1,000 lines or hour.
///
/// The key keeps who can write the file from changing it; the signed heads, which also go elsewhere, keep who has the
/// key too from cutting it short.
package final class AuditLog: Sendable {
    package struct Options: Sendable {
        /// Which instance this is; it is in each line.
        package var instance: String
        /// 32 random bytes that only the admin role reads.
        package var key: [UInt8]
        /// Signs ``AuditHead/message`` with the CA's key, and sends head and signature to the journal. It may block;
        /// when it throws it is asked again later, and nothing else waits for it. Nil signs nothing.
        package var sign: (@Sendable (AuditHead) throws(TenonError) -> [UInt8])?

        package init(
            instance: String, key: [UInt8], sign: (@Sendable (AuditHead) throws(TenonError) -> [UInt8])? = nil
        ) {
            self.instance = instance
            self.key = key
            self.sign = sign
        }
    }

    package static let fileName = "audit.log"

    /// Of an event, with an operator's reason, the only text of any length; a line has little more.
    static let eventBytes = 1_700

    let instance: String
    let path: String
    private let thread: BatchThread<AuditJob>

    /// Opens the log, or begins one. Blocks on the disk.
    ///
    /// - Throws: ``TenonError/Code/auditChain`` when the last line is not the one that was written there.
    package init(
        in folder: AuthorityFolder, clock: any AuthorityClock, options: Options
    ) throws(TenonError) {
        instance = options.instance
        path = "\(folder.path)/\(AuditLog.fileName)"
        let owner = AuditOwner(try AuditWriter(in: folder, clock: clock, options: options), folder)
        thread = try BatchThread { jobs in
            owner.writer?.write(jobs)
        } finish: {
            owner.close()
        }
    }

    /// Writes a line. It is stored when this returns.
    ///
    /// - Throws: ``TenonError/Code/storeFailed`` when it is not: what it tells of is not to be acknowledged.
    package func append(_ event: AuditEvent) async throws(TenonError) {
        try await submit(event.members)
    }

    func append(_ members: [String: JSON]) async throws(TenonError) { try await submit(members) }

    static let tooLong = TenonError(
        .tooLarge, message: "A line of the audit log would be too long: give a shorter reason.")

    /// Signs the head if lines were written since it was signed: for a timer, as a quiet log signs nothing by itself.
    package func signHead() async throws(TenonError) { try await submit(nil) }

    /// Signs the head, if it has to be, and closes the file.
    package func close() async { await thread.end() }

    private func submit(_ members: [String: JSON]?) async throws(TenonError) {
        let error: TenonError? = await withCheckedContinuation { continuation in
            let job = AuditJob(members: members) { continuation.resume(returning: $0) }
            if !thread.add(job) { continuation.resume(returning: .closed) }
        }
        if let error { throw error }
    }
}

/// A line, or without members the wish for a signed head.
struct AuditJob: Sendable {
    let members: [String: JSON]?
    let finish: @Sendable (TenonError?) -> Void
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
        writer?.signHead()
        writer = nil
        folder = nil
    }
}
