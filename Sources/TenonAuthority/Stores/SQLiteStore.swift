// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import Tenon

/// Challenges, devices and replay horizons in one SQLite file of the state folder, for one process. Changes are durable
/// when a function returns; one fsync serves all the calls that came in while the previous one ran.
package final class SQLiteStore: SQLDeviceStore, WatchedStore {
    package struct Options: Sendable {
        /// Challenges and pending secrets that may be outstanding at a time.
        package var maxChallenges: Int
        /// The share of one asker while they are scarce; nil is the usual share.
        package var challengesPerAddress: Int?
        /// The number of connections that only read.
        package var readers: Int
        /// The services whose tables are made, too.
        package var services: [HostedService] = []

        package init(maxChallenges: Int = 10_000, challengesPerAddress: Int? = nil, readers: Int = 2) {
            self.challengesPerAddress = challengesPerAddress
            self.maxChallenges = maxChallenges
            self.readers = readers
        }
    }

    static let fileName = "authority.db"

    /// The clock, which knows the latest time that an earlier process saw.
    package let clock: SteadyClock
    let writer: SQLiteWriter
    private let readers: SQLiteReaders
    let challengeCount: ChallengeCount
    let isNew: Bool
    /// The time that an earlier process saw.
    package let keptTime: KeptTime
    let outbox = AuditOutbox()
    private let cache = DeviceCache()

    /// Opens the store, makes it if it does not exist, and upgrades an older one. Blocks on the disk.
    ///
    /// - Throws: ``TenonError/Code/storeVersion``, ``TenonError/Code/storeCorrupt``,
    ///   ``TenonError/Code/storePermission``, ``TenonError/Code/storeFailed``.
    package init(
        in folder: AuthorityFolder, clock source: any AuthorityClock = SystemClock(), options: Options = Options()
    ) throws(TenonError) {
        let path = "\(folder.path)/\(SQLiteStore.fileName)"
        let connection = try SQLiteStore.connection(in: folder, options.services)
        let time = try KeptTime(in: connection, at: source.now())
        let clock = SteadyClock(source, notBefore: time.seen)
        self.clock = clock
        keptTime = time
        isNew = time.isNew
        challengeCount = ChallengeCount(.challenges(options.maxChallenges, each: options.challengesPerAddress))
        readers = try SQLiteReaders(max(1, options.readers), path, holding: folder)
        writer = try SQLiteWriter(connection, holding: folder, cache: cache) { connection throws(TenonError) in
            try SQLiteStore.stamp(connection, clock)
        }
    }

    /// Opens a connection that writes, and upgrades the database to this version.
    static func connection(
        in folder: AuthorityFolder, _ services: [HostedService] = []
    ) throws(TenonError) -> SQLiteConnection {
        Glibc.close(try folder.open(SQLiteStore.fileName))
        let connection = try SQLiteConnection("\(folder.path)/\(SQLiteStore.fileName)", .writer)
        try SQLiteSchema.prepare(connection, services)
        return connection
    }

    /// The end of an instance's audit log, as the database of an unused folder knows it; nil if there is no database.
    package static func auditMark(
        of instance: String, in folder: AuthorityFolder
    ) throws(TenonError) -> AuditMark? {
        let path = "\(folder.path)/\(fileName)"
        guard access(path, F_OK) == 0 else { return nil }
        let connection = try SQLiteConnection(path, .reader)
        let tables = try connection.run("SELECT 1 FROM sqlite_schema WHERE name='audit_heads'")
        return tables.isEmpty ? nil : try AuditMark.latest(of: instance, in: connection)
    }

    /// Finishes the calls that were made, moves the write-ahead log into the file and closes it. Later calls throw
    /// ``TenonError/Code/storeClosed``.
    package func close() async {
        await readers.close()
        // Every transaction stores the time that was seen; this one stores the last.
        _ = try? await writer.write { _ in }
        await writer.close()
    }

    package let watchedName = "sqlite"

    /// Writes twice and leaves the row as it was; SQLite would not write a row that never changes.
    package func look() async throws(TenonError) -> Int64? {
        try await writer.write { connection throws(TenonError) in
            for change in ["seen+1", "seen-1"] { try connection.run("UPDATE clock SET seen=\(change)") }
        }
        return nil
    }

    /// Reads from memory if the device is there, which is safe because no other process writes the file.
    package func device(app: String, id: String) async throws(TenonError) -> Device? {
        let (kept, changes) = cache.find(id)
        if let kept { return kept.app == app ? kept : nil }
        let found = try await read { connection throws(TenonError) in try connection.placedDevice(id: id) }
        guard let found else { return nil }
        cache.keep(found.device, at: found.place, since: changes)
        return found.device.app == app ? found.device : nil
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        try await writer.write(body)
    }

    func maintain<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        try await writer.write(body)
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        try await readers.read(body)
    }

    /// After the wall clock was stepped back, a new start does not go back behind this time (decision:
    /// forgetful-stores).
    private static func stamp(_ connection: SQLiteConnection, _ clock: SteadyClock) throws(TenonError) {
        let now = clock.now().wall
        try connection.run("UPDATE clock SET seen=?1 WHERE seen < ?1 - 1000", .integer(now))
    }
}

extension SQLiteStore: ChallengeStore {
    package func put(_ entry: ChallengeEntry, under key: Digest) async throws(TenonError) {
        let encoded = try entry.encoded()
        let now = clock.now()
        let refusal = try await writer.write { [challengeCount] connection throws(TenonError) -> TenonError? in
            if let refusal = try challengeCount.refusal(of: entry.asker, connection, at: now) { return refusal }
            try connection.run(
                "INSERT INTO challenges (key, purpose, wall, boot, entry, asker) VALUES (?, ?, ?, ?, ?, ?)",
                SQLValue(key), .text(entry.purpose.rawValue), .integer(entry.deadline.wall),
                .integer(entry.deadline.boot), .blob(encoded), .text(entry.asker))
            challengeCount.add(1)
            return nil
        }
        if let refusal { throw refusal }
    }

    package func take(
        _ purpose: ChallengeEntry.Purpose, under key: Digest
    ) async throws(TenonError) -> ChallengeEntry? {
        let clock = clock
        let row: [UInt8]? = try await writer.write { [challengeCount] connection throws(TenonError) in
            let rows = try connection.run(
                "DELETE FROM challenges WHERE key=? AND purpose=? RETURNING entry", SQLValue(key),
                .text(purpose.rawValue))
            challengeCount.add(-rows.count)
            return try rows.first?.blob(0)
        }
        guard let row else { return nil }
        let entry = try ChallengeEntry(encoded: row)
        return entry.deadline.isPast(at: clock.now()) ? nil : entry
    }
}

/// Counts the outstanding challenges without reading the rows each time. Only the writer's thread touches it.
final class ChallengeCount: Sendable {
    private let share: AddressShare
    private nonisolated(unsafe) var count: Int?
    private nonisolated(unsafe) var rollbacks = 0
    private nonisolated(unsafe) var sweptAt = Int64.min

    /// The time between two removals of expired challenges.
    private static let sweepMilliseconds: Int64 = 10_000
    /// The most challenges that are removed at a time, so that callers do not wait long for the writer.
    private static let sweepRows = 1_000

    init(_ share: AddressShare) { self.share = share }

    func add(_ change: Int) { count? += change }

    /// The reason why no challenge may be added after the expired ones were removed.
    func refusal(
        of asker: String, _ connection: SQLiteConnection, at now: AuthorityInstant
    ) throws(TenonError) -> TenonError? {
        let used = try outstanding(connection, at: now)
        if used >= share.places { return .challengesFull }
        guard !asker.isEmpty, share.isScarce(used: used) else { return nil }
        let rows = try connection.run(
            "SELECT count(*) FROM challenges WHERE asker=? AND asker <> '' AND wall > ? AND boot > ?", .text(asker),
            .integer(now.wall), .integer(now.boot))
        let held = try Int(rows.first?.integer(0) ?? 0)
        return share.admits(held: held, used: used) ? nil : .challengeShareTaken
    }

    private func outstanding(
        _ connection: SQLiteConnection, at now: AuthorityInstant
    ) throws(TenonError) -> Int {
        if connection.rollbacks != rollbacks { count = nil }
        rollbacks = connection.rollbacks
        if sweptAt == .min || now.boot - sweptAt >= ChallengeCount.sweepMilliseconds {
            try connection.run(
                """
                DELETE FROM challenges WHERE key IN (
                    SELECT key FROM challenges WHERE wall <= ? OR boot <= ? LIMIT \(ChallengeCount.sweepRows))
                """, .integer(now.wall), .integer(now.boot))
            // The next challenge removes the rest.
            if connection.changes < ChallengeCount.sweepRows { sweptAt = now.boot }
            count = nil
        }
        if count == nil {
            count = try Int(connection.run("SELECT count(*) FROM challenges").first?.integer(0) ?? 0)
        }
        return count ?? 0
    }
}

extension TenonError {
    static let challengesFull = TenonError(
        .storeFull, message: "Too many outstanding challenges. Try again soon.", retryAfter: .seconds(10))

    static let challengeShareTaken = TenonError(
        .storeFull, message: "Challenges are scarce, and this address has used its share. Try again soon.",
        retryAfter: .seconds(10))
}
