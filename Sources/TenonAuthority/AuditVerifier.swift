// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// Reads an audit log again, line by line.
package struct AuditVerifier {
    package struct Summary: Equatable, Sendable {
        package var lines: Int64
        /// The last line that a signed head covers; what comes behind it, somebody with the key could have cut off.
        package var signedLines: Int64
        /// Lines with which an operator went on although the log before them was not the one that was written.
        package var acceptances: [Int64] = []
    }

    private var chain: AuditChain
    /// The last line that the database knows of.
    private let kept: AuditMark?
    /// The `mac` of lines that have to be there, by their numbers: of heads that were told elsewhere.
    private var told: [Int64: Digest]
    private let checkHead: (AuditHead, [UInt8]) throws(TenonError) -> Void
    private var rest: [UInt8] = []
    package private(set) var summary = Summary(lines: 0, signedLines: 0)

    /// - Parameters:
    ///   - kept: what the database knows of the log, if it was asked.
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

    /// The log ends here: with a whole line.
    package func finish() throws(TenonError) -> Summary {
        guard rest.isEmpty else { throw broken }
        if let kept, kept.sequence > summary.lines {
            throw TenonError(
                .auditChain,
                message: "The audit log ends at line \(summary.lines), and the database knows of \(kept.sequence).")
        }
        if let line = told.keys.min() {
            throw TenonError(
                .auditChain, message: "Line \(line) of the audit log was another, or there were more lines.")
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
            message: "Line \(summary.lines + 1) of the audit log is not the one that was written behind those before.")
    }
}
