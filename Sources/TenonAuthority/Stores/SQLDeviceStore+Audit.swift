// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tenon

extension SQLDeviceStore {
    package var waitingLines: Int { outbox.waiting }

    package func step<Value: Sendable>(
        auditing event: @escaping @Sendable (Value) -> AuditEvent?,
        _ body: @escaping @Sendable (any SQLConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        try await change(event, body)
    }

    /// Makes a change and stores its audit line in one transaction; then writes the line to the log. If that fails, the
    /// call fails, and ``tidy(at:)`` writes the line later.
    func change<Value: Sendable>(
        _ event: @escaping @Sendable (Value) -> AuditEvent?,
        _ body: @escaping @Sendable (any SQLConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        try await changes({ event($0).map { [$0] } ?? [] }, body)
    }

    /// The same for a change with several audit lines.
    func changes<Value: Sendable>(
        _ events: @escaping @Sendable (Value) -> [AuditEvent],
        _ body: @escaping @Sendable (any SQLConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        guard let log = outbox.log else { return try await write(body) }
        let names = OutboxNames(outbox)
        let (value, lines): (Value, [OutboxLine])
        do throws(TenonError) {
            (value, lines) = try await write { [lease] connection throws(TenonError) in
                let value = try body(connection)
                let lines = names.lines(events(value))
                for line in lines { try line.insert(for: log, lease, into: connection) }
                return (value, lines)
            }
        } catch {
            names.end(.failed(isStored: false))
            throw error
        }
        names.end(.nothing, but: lines)
        try await append(lines, to: log)
        if outbox.isLong, outbox.beginTidying() {
            // The timer tries again after a failure.
            try? await sweep()
            outbox.endTidying()
        }
        return value
    }

    private func append(_ lines: [OutboxLine], to log: AuditLog) async throws(TenonError) {
        for (index, line) in lines.enumerated() {
            do throws(TenonError) {
                try await append(line, to: log)
            } catch {
                for left in lines[(index + 1)...] { outbox.end(left.id, .failed(isStored: true)) }
                throw error
            }
        }
    }

    private func append(_ line: OutboxLine, to log: AuditLog) async throws(TenonError) {
        do throws(TenonError) {
            try await log.append(line.members)
            outbox.end(line.id, .written)
        } catch {
            outbox.end(line.id, .failed(isStored: true))
            throw TenonError(
                error.code, message: "This was stored, but is not in the audit log yet. \(error.message)",
                retryAfter: error.retryAfter)
        }
    }

    @discardableResult
    package func audit(in log: AuditLog) async throws(TenonError) -> TenonError? {
        let known = try await knowledge(of: log.instance)
        let comparison = try AuditComparison(log, known)
        if let fault = comparison.fault {
            guard log.options.accepts else { throw fault.withMend }
            try await log.append(comparison.record(fault, known))
            try await begin(anew: log)
        } else {
            try await log.mend()
        }
        // This includes lines of a process that ended between writing a line and removing it from the store.
        outbox.attach(log, written: comparison.written, waiting: known.waiting.subtracting(comparison.written))
        // A line that cannot be written now is written later: nobody was told of its change.
        try? await writeWhatIsLeft()
        return comparison.fault
    }

    private func knowledge(of instance: String) async throws(TenonError) -> AuditComparison.Knowledge {
        var known = AuditComparison.Knowledge()
        var place: Int64 = 0
        while case let page = try await page(of: instance, after: place), let last = page.last {
            known.waiting.formUnion(page.map(\.line.id))
            place = last.place
        }
        (known.latest, known.swept) = try await read { connection throws(TenonError) in
            try (AuditMark.latest(of: instance, in: connection), AuditMark.kept(of: instance, in: connection))
        }
        return known
    }

    /// Replaces the database's marks, which belong to another log.
    private func begin(anew log: AuditLog) async throws(TenonError) {
        let mark = log.mark
        try await write { connection throws(TenonError) in
            try connection.run("UPDATE outbox SET sequence=NULL WHERE instance=?", .text(log.instance))
            try connection.run("DELETE FROM audit_heads WHERE instance=?", .text(log.instance))
            try mark.keep(for: log.instance, in: connection)
        }
    }

    /// Writes the lines that were left behind, and removes the written ones from the store.
    func writeWhatIsLeft() async throws(TenonError) {
        guard let log = outbox.log, outbox.beginTidying() else { return }
        defer { outbox.endTidying() }
        try await sweep()
        var place: Int64 = 0
        while case let page = try await page(of: log.instance, after: place), let last = page.last {
            for row in page where outbox.take(row.line.id) { try await append(row.line, to: log) }
            place = last.place
        }
        try await sweep()
    }

    /// Removing lines from the store records, in the same transaction, where the log ends behind them.
    private func sweep() async throws(TenonError) {
        guard let log = outbox.log else { return }
        repeat {
            let (ids, mark) = (outbox.written(atMost: OutboxRow.pageRows), log.mark)
            guard !ids.isEmpty || outbox.kept < mark.sequence else { return }
            try await maintain { connection throws(TenonError) in
                for id in ids { try connection.run("DELETE FROM outbox WHERE id=?", .text(id)) }
                try mark.keep(for: log.instance, in: connection)
            }
            outbox.forget(ids)
            outbox.keep(mark)
        } while true
    }

    private func page(of instance: String, after place: Int64) async throws(TenonError) -> [OutboxRow] {
        try await read { connection throws(TenonError) in
            var page: [OutboxRow] = []
            let rows = try connection.run(
                "SELECT place, id, line FROM outbox WHERE instance=? AND place>? ORDER BY place LIMIT ?",
                .text(instance), .integer(place), .integer(Int64(OutboxRow.pageRows)))
            for row in rows {
                let line = try OutboxLine(id: try row.text(1), stored: try row.blob(2))
                page.append(OutboxRow(place: try row.integer(0), line: line))
            }
            return page
        }
    }
}

/// The names of the lines of one change, which may be made more than once before it is stored.
private final class OutboxNames: Sendable {
    private let outbox: AuditOutbox
    private let ids = Mutex<[String]>([])

    init(_ outbox: AuditOutbox) { self.outbox = outbox }

    func lines(_ events: [AuditEvent]) -> [OutboxLine] {
        let lines = events.map { OutboxLine($0, id: outbox.begin()) }
        ids.withLock { $0 += lines.map(\.id) }
        return lines
    }

    /// Ends all lines except those that were stored.
    func end(_ end: AuditOutbox.End, but stored: [OutboxLine] = []) {
        let stored = Set(stored.map(\.id))
        for id in ids.withLock({ $0 }) where !stored.contains(id) { outbox.end(id, end) }
    }
}

private struct OutboxRow: Sendable {
    static let pageRows = 100

    let place: Int64
    let line: OutboxLine
}

extension OutboxLine {
    /// Stores beside the line where the log ends now. Concurrent calls store their own ends and do not wait for each
    /// other. With a lease, the line is stored only while the lease is held; otherwise two processes of one name would
    /// write the same line into both logs.
    fileprivate func insert(
        for log: AuditLog, _ lease: PostgresLease?, into connection: any SQLConnection
    ) throws(TenonError) {
        let mark = log.mark
        let values: [SQLValue] = [
            .text(id), .text(log.instance), .blob(try encoded()), .integer(mark.sequence), SQLValue(mark.mac),
            .integer(mark.bytes),
        ]
        let columns = "INSERT INTO outbox (id, instance, line, sequence, mac, bytes)"
        guard let lease else {
            try connection.run("\(columns) VALUES (?, ?, ?, ?, ?, ?)", values)
            return
        }
        try connection.run(
            """
            \(columns) SELECT CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BYTEA), CAST(? AS BIGINT), CAST(? AS BYTEA),
                CAST(? AS BIGINT)
            FROM instances WHERE name=? AND token=?
            """, values + [.text(lease.name), .blob(lease.token)])
        guard connection.changes == 1 else { throw .nameLost(lease.name) }
    }
}

extension AuditMark {
    /// The last line that the database knows of.
    static func latest(of instance: String, in connection: any SQLConnection) throws(TenonError) -> AuditMark? {
        try find(
            """
            SELECT sequence, mac, bytes FROM (
                SELECT sequence, mac, bytes FROM audit_heads WHERE instance=?
                UNION ALL SELECT sequence, mac, bytes FROM outbox WHERE instance=? AND sequence IS NOT NULL
            ) AS known ORDER BY sequence DESC LIMIT 1
            """, [.text(instance), .text(instance)], connection)
    }

    static func kept(of instance: String, in connection: any SQLConnection) throws(TenonError) -> AuditMark? {
        try find("SELECT sequence, mac, bytes FROM audit_heads WHERE instance=?", [.text(instance)], connection)
    }

    private static func find(
        _ sql: String, _ values: [SQLValue], _ connection: any SQLConnection
    ) throws(TenonError) -> AuditMark? {
        guard let row = try connection.run(sql, values).first else { return nil }
        let mac = try Digest(rawRepresentation: try row.blob(1))
        return AuditMark(sequence: try row.integer(0), mac: mac, bytes: try row.integer(2))
    }

    fileprivate func keep(for instance: String, in connection: any SQLConnection) throws(TenonError) {
        try connection.run(
            """
            INSERT INTO audit_heads (instance, sequence, mac, bytes) VALUES (?, ?, ?, ?)
            ON CONFLICT (instance) DO UPDATE SET sequence=excluded.sequence, mac=excluded.mac, bytes=excluded.bytes
            WHERE audit_heads.sequence < excluded.sequence
            """, .text(instance), .integer(sequence), SQLValue(mac), .integer(bytes))
    }
}
