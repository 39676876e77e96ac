// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tenon

extension SQLDeviceStore {
    package var waitingLines: Int { outbox.waiting }

    /// Makes a change and stores the line that tells of it, in one transaction; then the line goes to the log. When that
    /// fails, so does the call, and ``tidy(at:)`` writes the line later.
    func change<Value: Sendable>(
        _ event: @escaping @Sendable (Value) -> AuditEvent?,
        _ body: @escaping @Sendable (any SQLConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        try await changes({ event($0).map { [$0] } ?? [] }, body)
    }

    /// The same of a change that several lines tell of.
    func changes<Value: Sendable>(
        _ events: @escaping @Sendable (Value) -> [AuditEvent],
        _ body: @escaping @Sendable (any SQLConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        guard let log = outbox.log else { return try await write(body) }
        let names = OutboxNames(outbox)
        let (value, lines): (Value, [OutboxLine])
        do throws(TenonError) {
            (value, lines) = try await write { connection throws(TenonError) in
                let value = try body(connection)
                let lines = names.lines(events(value))
                for line in lines { try line.insert(for: log.instance, into: connection) }
                return (value, lines)
            }
        } catch {
            names.end(.failed(isStored: false))
            throw error
        }
        names.end(.nothing, but: lines)
        try await append(lines, to: log)
        if outbox.isLong, outbox.beginTidying() {
            // What fails is tried again by the timer.
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
            throw error
        }
    }

    package func audit(in log: AuditLog) async throws(TenonError) {
        var left: Set<String> = []
        var place: Int64 = 0
        while case let page = try await page(of: log.instance, after: place), let last = page.last {
            left.formUnion(page.map(\.line.id))
            place = last.place
        }
        // A process that ended between writing a line and taking it out of the store.
        let written = left.isEmpty ? [] : try log.changes(among: left)
        outbox.attach(log, written: written, waiting: left.subtracting(written))
        // What cannot be written now is written later: nobody was told of it.
        try? await writeWhatIsLeft()
    }

    /// Writes the lines that were left behind, and takes out of the store those that are in the log.
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

    private func sweep() async throws(TenonError) {
        while case let ids = outbox.written(atMost: OutboxRow.pageRows), !ids.isEmpty {
            try await maintain { connection throws(TenonError) in
                for id in ids { try connection.run("DELETE FROM outbox WHERE id=?", .text(id)) }
            }
            outbox.forget(ids)
        }
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

    /// Of all lines, but those that were stored.
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
    fileprivate func insert(for instance: String, into connection: any SQLConnection) throws(TenonError) {
        try connection.run(
            "INSERT INTO outbox (id, instance, line) VALUES (?, ?, ?)", .text(id), .text(instance),
            .blob(try encoded()))
    }
}
