// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority

/// An event that was verified, and the state of its log after it.
struct StoredEvent: Equatable, Sendable {
    let event: KeyEvent
    let log: KeyEventLog

    var size: Int { event.bytes.count + event.attachment.utf8.count }
}

/// The tables of this service. The key of the events decides which event is the first with its number (decision:
/// first-event).
enum AuthsTables {
    /// Each entry upgrades the version before it. A released entry never changes.
    static let versions = [
        """
        CREATE TABLE auths_identities (
            prefix TEXT PRIMARY KEY, app TEXT NOT NULL, number BIGINT NOT NULL, log_bytes BIGINT NOT NULL,
            UNIQUE (app, number)
        );
        CREATE TABLE auths_events (
            prefix TEXT NOT NULL, sequence BIGINT NOT NULL, said TEXT NOT NULL, event BYTEA NOT NULL,
            attachment TEXT NOT NULL, key BYTEA NOT NULL, next TEXT, rotations_only BIGINT NOT NULL,
            seen_at BIGINT NOT NULL, PRIMARY KEY (prefix, sequence)
        );
        CREATE TABLE auths_conflicts (
            prefix TEXT NOT NULL, sequence BIGINT NOT NULL, said TEXT NOT NULL, event BYTEA NOT NULL,
            attachment TEXT NOT NULL, seen_at BIGINT NOT NULL, PRIMARY KEY (prefix, sequence, said)
        );
        """
    ]

    /// The most events of one identity that are kept as evidence; a few are enough.
    static let maxConflicts: Int64 = 16
}

// Reads and writes the rows.
extension SQLConnection {
    private var eventColumns: String { "sequence, said, event, attachment, key, next, rotations_only" }

    /// Accepted events from a number on, at most `limit` and about `maxBytes`.
    func events(
        of prefix: String, from sequence: Int64, limit: Int, maxBytes: Int = .max
    ) throws(TenonError) -> [StoredEvent] {
        var (events, bytes): ([StoredEvent], Int) = ([], 0)
        while events.count < limit {
            let count = min(16, limit - events.count)
            let rows = try run(
                "SELECT \(eventColumns) FROM auths_events WHERE prefix=? AND sequence>=? ORDER BY sequence LIMIT ?",
                .text(prefix), .integer(sequence + Int64(events.count)), .integer(Int64(count)))
            for row in rows {
                let event = try StoredEvent(prefix, row)
                bytes += event.size
                guard events.isEmpty || bytes <= maxBytes else { return events }
                events.append(event)
            }
            if rows.count < count { break }
        }
        return events
    }

    func lastEvent(of prefix: String) throws(TenonError) -> StoredEvent? {
        try run(
            "SELECT \(eventColumns) FROM auths_events WHERE prefix=? ORDER BY sequence DESC LIMIT 1", .text(prefix)
        ).first.map { row throws(TenonError) in try StoredEvent(prefix, row) }
    }

    /// Stores an event; false if its number is taken.
    func insert(_ event: StoredEvent, at now: AuthorityInstant) throws(TenonError) -> Bool {
        let log = event.log
        try run(
            "INSERT INTO auths_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", .text(log.prefix),
            .integer(Int64(log.sequence)), .text(log.said), .blob(event.event.bytes), .text(event.event.attachment),
            .blob(log.key?.rawRepresentation ?? []), SQLValue(log.nextDigest),
            .integer(log.isEstablishmentOnly ? 1 : 0), .integer(now.seconds))
        return changes == 1
    }

    /// Stores a new identity with its inception, unless it is stored.
    ///
    /// - Throws: ``TenonError/Code/quotaReached`` if the app has as many identities as it may, or the event
    ///   is too long.
    func insert(
        inception event: StoredEvent, app: String, limits: AuthsSettings, at now: AuthorityInstant
    ) throws(TenonError) {
        guard try run("SELECT 1 FROM auths_identities WHERE prefix=?", .text(event.log.prefix)).isEmpty else { return }
        let rows = try run("SELECT coalesce(max(number), 0) FROM auths_identities WHERE app=?", .text(app))
        let number = try (rows.first?.integer(0) ?? 0) + 1
        guard number <= limits.maxIdentities else {
            throw TenonError(.quotaReached, message: "The app has as many identities as it may.")
        }
        guard event.size <= limits.maxLogBytes else { throw .tooManyBytes }
        try run(
            "INSERT INTO auths_identities VALUES (?, ?, ?, ?)", .text(event.log.prefix), .text(app), .integer(number),
            .integer(Int64(event.size)))
        _ = try insert(event, at: now)
    }

    /// Counts the bytes of new events as part of the log of their identity.
    ///
    /// - Throws: ``TenonError/Code/quotaReached`` if it would have more than the limit.
    func count(_ events: [StoredEvent], of prefix: String, limit: Int64) throws(TenonError) {
        let bytes = Int64(events.reduce(0) { $0 + $1.size })
        try run(
            "UPDATE auths_identities SET log_bytes=log_bytes+? WHERE prefix=? AND log_bytes+?<=?", .integer(bytes),
            .text(prefix), .integer(bytes), .integer(limit))
        guard changes == 1 else { throw .tooManyBytes }
    }

    /// Keeps an event whose number is taken by another one; false if it is kept already, or enough are.
    func keep(conflict event: StoredEvent, at now: AuthorityInstant) throws(TenonError) -> Bool {
        let (prefix, log) = (SQLValue.text(event.log.prefix), event.log)
        let count = try run("SELECT count(*) FROM auths_conflicts WHERE prefix=?", prefix).first?.integer(0) ?? 0
        guard count < AuthsTables.maxConflicts else { return false }
        try run(
            "INSERT INTO auths_conflicts VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", prefix,
            .integer(Int64(log.sequence)), .text(log.said), .blob(event.event.bytes), .text(event.event.attachment),
            .integer(now.seconds))
        return changes == 1
    }

    /// The events that are kept as evidence.
    func conflicts(of prefix: String) throws(TenonError) -> [KeyEvent] {
        var events: [KeyEvent] = []
        let rows = try run(
            "SELECT event, attachment FROM auths_conflicts WHERE prefix=? ORDER BY sequence, said", .text(prefix))
        for row in rows { events.append(KeyEvent(bytes: try row.blob(0), attachment: try row.text(1))) }
        return events
    }
}

extension TenonError {
    fileprivate static let tooManyBytes = TenonError(
        .quotaReached, message: "The identity has as many bytes of events as it may.")
}

extension StoredEvent {
    fileprivate init(_ prefix: String, _ row: SQLRow) throws(TenonError) {
        do throws(TenonError) {
            event = KeyEvent(bytes: try row.blob(2), attachment: try row.text(3))
            log = try KeyEventLog(
                prefix: prefix, said: try row.text(1), sequence: UInt64(clamping: try row.integer(0)),
                key: PublicKey(rawRepresentation: try row.blob(4)), nextDigest: try row.optionalText(5),
                isEstablishmentOnly: try row.integer(6) == 1)
        } catch {
            throw TenonError(
                .storeCorrupt, message: "The store is damaged (an event). Restore it from a backup.")
        }
    }
}
