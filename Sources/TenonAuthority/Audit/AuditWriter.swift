// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// Writes groups of lines, and from time to time a signature over the last one. One thread uses it.
final class AuditWriter {
    private let file: AuditFile
    let end: AuditEnd
    private let clock: any AuthorityClock
    private let sign: (@Sendable (AuditHead) throws(TenonError) -> [UInt8])?
    private var chain: AuditChain
    /// Whether anything was asked for. Before that, the log may turn out to be the wrong one.
    private(set) var hasBegun = false
    private var unsigned = 0
    private var signedAt: Int64

    /// Limits how much of the log somebody can cut off unnoticed.
    private static let signedLines = 1_000
    private static let signedMilliseconds: Int64 = 3_600_000
    /// The size of one write, so that a crash leaves little unfinished.
    private static let groupLines = 500
    private static let lineBytes = AuditLog.eventBytes + 300

    init(in folder: AuthorityFolder, clock: any AuthorityClock, options: AuditLog.Options) throws(TenonError) {
        file = try AuditFile(AuditLog.fileName, in: folder)
        self.clock = clock
        sign = options.sign
        signedAt = clock.now().boot
        let lines = try file.lastLines()
        chain =
            lines.count == 2
            ? try AuditChain(instance: options.instance, key: options.key, after: lines[0])
            : try AuditChain(instance: options.instance, key: options.key)
        if let last = lines.last {
            let json = try chain.verify(last)
            unsigned = json["event"]?.string == AuditWriter.headEvent ? 0 : 1
        }
        end = AuditEnd(chain.mark(at: file.length))
    }

    func write(_ jobs: [AuditJob]) {
        // Read before any caller is told, so that time that passes after an answer does not count for this group.
        let now = clock.now().boot
        hasBegun = true
        var rest = jobs[...]
        while !rest.isEmpty {
            writeGroup(rest.prefix(AuditWriter.groupLines))
            rest = rest.dropFirst(AuditWriter.groupLines)
        }
        var wanted: [AuditJob] = []
        for job in jobs {
            switch job.wish {
            case .line: break
            case .signedHead: wanted.append(job)
            case .mend: job.finish(failure(of: file.mend))
            }
        }
        let isDue = unsigned >= AuditWriter.signedLines || now - signedAt >= AuditWriter.signedMilliseconds
        let failure = !wanted.isEmpty || isDue ? signHead() : nil
        for job in wanted { job.finish(failure) }
    }

    private func failure(of body: () throws(TenonError) -> Void) -> TenonError? {
        do throws(TenonError) { try body() } catch { return error }
        return nil
    }

    private func append(_ bytes: [UInt8]) throws(TenonError) {
        try file.append(bytes)
        end.set(chain.mark(at: file.length))
    }

    /// Stores all lines of a group or none, and tells each caller.
    private func writeGroup(_ jobs: ArraySlice<AuditJob>) {
        let before = chain
        var bytes: [UInt8] = []
        var written: [AuditJob] = []
        for job in jobs {
            guard let members = job.members else { continue }
            do throws(TenonError) {
                bytes += try line(members)
                written.append(job)
            } catch {
                job.finish(error)
            }
        }
        guard !written.isEmpty else { return }
        do throws(TenonError) {
            try append(bytes)
            unsigned += written.count
            for job in written { job.finish(nil) }
        } catch {
            chain = before
            for job in written { job.finish(error) }
        }
    }

    private func line(_ members: [String: JSON]) throws(TenonError) -> [UInt8] {
        let before = chain
        let line = try chain.add(members, at: clock.now().seconds)
        guard line.count <= AuditWriter.lineBytes else {
            chain = before
            throw AuditLog.tooLong
        }
        return line
    }

    static let headEvent = "head"

    /// A head that could not be signed is signed with the next group.
    @discardableResult
    func signHead() -> TenonError? {
        guard unsigned > 0, let sign else { return nil }
        let before = chain
        do throws(TenonError) {
            let signature = try sign(chain.head)
            let members: [String: JSON] = ["event": .string(AuditWriter.headEvent), "signature": .bytes(signature)]
            try append(try chain.add(members, at: clock.now().seconds))
            unsigned = 0
            signedAt = clock.now().boot
            return nil
        } catch {
            chain = before
            return error
        }
    }
}
