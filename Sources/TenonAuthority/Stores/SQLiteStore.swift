// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import Tenon

/// Challenges, devices and replay horizons in one SQLite file of the state folder, for one process: durable when a
/// function returns, with one fsync for whatever was asked for while the last one ran.
package final class SQLiteStore: SQLDeviceStore, WatchedStore {
    package struct Options: Sendable {
        /// Challenges and pending secrets that may be outstanding at a time.
        package var maxChallenges: Int
        /// Of one asker, while they are scarce; nil is the usual share.
        package var challengesPerAddress: Int?
        /// Connections that read.
        package var readers: Int
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
    /// What an earlier process saw of the time.
    package let keptTime: KeptTime
    let outbox = AuditOutbox()
    private let cache = DeviceCache()

    /// Opens the store, makes it when there is none, and brings an older one to this version. Blocks on the disk.
    ///
    /// - Throws: ``TenonError/Code/storeVersion``, ``TenonError/Code/storeCorrupt``,
    ///   ``TenonError/Code/storePermission``, ``TenonError/Code/storeFailed``.
    package init(
        in folder: AuthorityFolder, clock source: any AuthorityClock = SystemClock(), options: Options = Options()
    ) throws(TenonError) {
        let path = "\(folder.path)/\(SQLiteStore.fileName)"
        let connection = try SQLiteStore.connection(in: folder)
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

    /// A connection that writes, to a database of this version.
    static func connection(in folder: AuthorityFolder) throws(TenonError) -> SQLiteConnection {
        Glibc.close(try folder.open(SQLiteStore.fileName))
        let connection = try SQLiteConnection("\(folder.path)/\(SQLiteStore.fileName)", .writer)
        try SQLiteSchema.prepare(connection)
        return connection
    }

    /// What the database of a folder that nobody uses knows of an instance's audit log; nil where there is none.
    package static func auditMark(
        of instance: String, in folder: AuthorityFolder
    ) throws(TenonError) -> AuditMark? {
        let path = "\(folder.path)/\(fileName)"
        guard access(path, F_OK) == 0 else { return nil }
        let connection = try SQLiteConnection(path, .reader)
        let tables = try connection.run("SELECT 1 FROM sqlite_schema WHERE name='audit_heads'")
        return tables.isEmpty ? nil : try AuditMark.latest(of: instance, in: connection)
    }

    /// Ends what was asked for, moves the log into the file and closes it. Later calls throw
    /// ``TenonError/Code/storeClosed``.
    package func close() async {
        await readers.close()
        // For the stamp, which every transaction makes.
        _ = try? await writer.write { _ in }
        await writer.close()
    }

    package let watchedName = "sqlite"

    /// The row stays as it is in the end; where it is never another, SQLite writes nothing.
    package func look() async throws(TenonError) -> Int64? {
        try await writer.write { connection throws(TenonError) in
            for change in ["seen+1", "seen-1"] { try connection.run("UPDATE clock SET seen=\(change)") }
        }
        return nil
    }

    /// From memory, where it is there: nobody else writes the file.
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

    /// A start after a step backwards of the wall clock does not go back behind this (decision: forgetful-stores).
    private static func stamp(_ connection: SQLiteConnection, _ clock: SteadyClock) throws(TenonError) {
        let now = clock.now().wall
        try connection.run("UPDATE clock SET seen=?1 WHERE seen < ?1 - 1000", .integer(now))
    }
}
