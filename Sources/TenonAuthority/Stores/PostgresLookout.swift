// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization
internal import Tenon

/// The name of an instance, and a token that tells this process from another one with the same name.
struct PostgresLease: Equatable, Sendable {
    let name: String
    let token: [UInt8]

    init(name: String) {
        self.name = name
        token = [UInt8](random: 16)
    }
}

/// Holds an instance's name over a connection of its own, and checks whether a request would be answered.
///
/// A session lock holds the name, and ends with the process or its machine: a successor can take the name of a killed
/// process at once, but never that of a live one. The row beside the lock identifies the process. Changes are stored
/// only while the row is there, so a process that lost its session and its name to another one stores nothing more
/// under that name.
final class PostgresLookout: Sendable {
    private struct State {
        var lease: PostgresLease?
        /// The session that has the lock.
        var session = 0
    }

    private let schema: String
    private let state = Mutex(State())

    /// The time within which a start gets its name or fails.
    static let patience = Duration.seconds(15)
    /// How long a start waits for its name: the server may not have noticed yet that a process was killed.
    private static let wait = Duration.seconds(3)
    /// The silence after which a session that holds a name is ended, because its machine may be gone.
    private static let silence: Int64 = 30_000

    init(schema: String) { self.schema = schema }

    var lease: PostgresLease? { state.withLock { $0.lease } }

    // MARK: The name

    func enter(
        _ connection: PostgresConnection, _ lease: PostgresLease, _ policies: [String: Digest], isRolling: Bool
    ) throws(TenonError) -> [String] {
        try connection.connect()
        try lock(connection, lease.name)
        let session = connection.sessions
        do throws(TenonError) {
            let others = try connection.transaction(isolation: "READ COMMITTED") { connection throws(TenonError) in
                try connection.run("LOCK TABLE instances IN EXCLUSIVE MODE")
                let others = try self.others(connection, lease.name, policies)
                guard others.isEmpty || isRolling else { throw .otherPolicy(others) }
                try self.insert(connection, lease, policies)
                return others
            }
            state.withLock { $0 = State(lease: lease, session: session) }
            return others.map(\.sentence)
        } catch {
            // Closing the session releases the lock.
            connection.close()
            throw error
        }
    }

    private func lock(_ connection: PostgresConnection, _ name: String) throws(TenonError) {
        let (key, end) = (try key(name), ContinuousClock.now + PostgresLookout.wait)
        while try connection.run("SELECT CAST(pg_try_advisory_lock(?) AS INTEGER)", key).first?.integer(0) != 1 {
            let rows = try connection.run(
                "SELECT process, \(PostgresLookout.now) - seen_at FROM instances WHERE name=?", .text(name))
            guard ContinuousClock.now < end else { throw .nameTaken(name, try rows.first?.text(0)) }
            if let silence = try rows.first?.integer(1) { try endSilent(silence, key, connection) }
            usleep(50_000)
        }
    }

    /// Ends a session that holds a name and has been silent for long.
    private func endSilent(_ silence: Int64, _ key: SQLValue, _ connection: PostgresConnection) throws(TenonError) {
        guard silence > PostgresLookout.silence else { return }
        try connection.run(
            "SELECT CAST(count(pg_terminate_backend(pid)) AS BIGINT) \(PostgresLookout.holders) = ?", key)
    }

    /// The sessions that hold the lock with this key.
    private static let holders = """
        FROM pg_locks WHERE locktype='advisory' AND objsubid=1 AND granted AND \
        database=(SELECT oid FROM pg_database WHERE datname=current_database()) AND \
        (CAST(classid AS BIGINT) << 32 | CAST(objid AS BIGINT))
        """

    private static let now = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"

    private func key(_ name: String) throws(TenonError) -> SQLValue {
        let digest = try Digest(hashing: Array("tenon instance \(schema) \(name)".utf8))
        return .integer(digest.rawRepresentation.prefix(8).reduce(0) { $0 << 8 | Int64($1) })
    }

    struct Other {
        let instance: String
        let app: String

        var sentence: String { "The instance \"\(instance)\" has another policy for the app \"\(app)\"." }
    }

    /// Running instances that have another policy for one of our apps.
    private func others(
        _ connection: any SQLConnection, _ name: String, _ policies: [String: Digest]
    ) throws(TenonError) -> [Other] {
        var others: [Other] = []
        let rows = try connection.run(
            """
            SELECT instance, app, digest FROM policies JOIN instances ON name=instance WHERE name<>? AND EXISTS
            (SELECT 1 \(PostgresLookout.holders) = instances.lock) ORDER BY instance, app
            """, .text(name))
        for row in rows {
            let app = try row.text(1)
            guard let digest = policies[app], try row.blob(2) != digest.rawRepresentation else { continue }
            others.append(Other(instance: try row.text(0), app: app))
        }
        return others
    }

    private func insert(
        _ connection: any SQLConnection, _ lease: PostgresLease, _ policies: [String: Digest]
    ) throws(TenonError) {
        try connection.run(
            """
            INSERT INTO instances (name, token, process, lock, seen_at) VALUES (?, ?, ?, ?, \(PostgresLookout.now))
            ON CONFLICT (name) DO UPDATE SET token=excluded.token, process=excluded.process, lock=excluded.lock,
            seen_at=excluded.seen_at
            """, .text(lease.name), .blob(lease.token), .text(PostgresLookout.process), try key(lease.name))
        try connection.run("DELETE FROM policies WHERE instance=?", .text(lease.name))
        for (app, digest) in policies {
            try connection.run(
                "INSERT INTO policies (instance, app, digest) VALUES (?, ?, ?)", .text(lease.name), .text(app),
                SQLValue(digest))
        }
    }

    /// Describes this process to another one that is refused its name.
    private static var process: String {
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        let host = name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        return "process \(getpid()) on \(String(decoding: host, as: UTF8.self))"
    }

    /// Releases the name at once, so that another process can take it.
    func leave(_ connection: PostgresConnection) throws(TenonError) {
        let lease = state.withLock { state in
            defer { state.lease = nil }
            return state.lease
        }
        guard let lease else { return }
        try connection.transaction(isolation: "READ COMMITTED") { connection throws(TenonError) in
            try connection.run(
                "DELETE FROM policies WHERE instance IN (SELECT name FROM instances WHERE name=? AND token=?)",
                .text(lease.name), .blob(lease.token))
            try connection.run("DELETE FROM instances WHERE name=? AND token=?", .text(lease.name), .blob(lease.token))
        }
        connection.close()
    }

    // MARK: The look

    /// PostgreSQL's time, in milliseconds since 1970.
    func look(_ connection: PostgresConnection) throws(TenonError) -> Int64 {
        // This notices a session that was lost since the last look; the next statement takes its name again.
        _ = try connection.reading { connection throws(TenonError) in try connection.run("SELECT 1") }
        let lease = state.withLock { $0.lease }
        if let lease { try hold(connection, lease) }
        return try connection.transaction(isolation: "READ COMMITTED") { connection throws(TenonError) in
            // A lock or a fault that stops a registration stops this look, too.
            try connection.run("LOCK TABLE \(PostgresLookout.tables) IN ROW EXCLUSIVE MODE")
            let row = try connection.run(
                "UPDATE instances SET seen_at=\(PostgresLookout.now) WHERE name=? AND token=? RETURNING seen_at",
                .text(lease?.name ?? ""), .blob(lease?.token ?? [])
            ).first
            guard let row else { throw .nameLost(lease?.name ?? "") }
            return try row.integer(0)
        }
    }

    private static let tables =
        "devices, keys, spent_challenges, certificates, denied_eks, replay_horizons, outbox, instances"

    /// A lost session has lost the lock of the name. It is taken again, if nobody else has it.
    private func hold(_ connection: PostgresConnection, _ lease: PostgresLease) throws(TenonError) {
        guard state.withLock({ $0.session }) != connection.sessions else { return }
        let key = try key(lease.name)
        let row = try connection.run("SELECT CAST(pg_try_advisory_lock(?) AS INTEGER)", key).first
        guard try row?.integer(0) == 1 else {
            let row = try connection.run(
                "SELECT token, \(PostgresLookout.now) - seen_at FROM instances WHERE name=?", .text(lease.name)
            ).first
            guard let row, try row.blob(0) == lease.token else { throw .nameLost(lease.name) }
            try endSilent(row.integer(1), key, connection)
            throw TenonError(
                .storeFailed, message: "PostgreSQL has not yet ended the session that this instance lost.",
                retryAfter: .seconds(1))
        }
        let session = connection.sessions
        state.withLock { $0.session = session }
    }
}

extension TenonError {
    fileprivate static func nameTaken(_ name: String, _ process: String?) -> TenonError {
        TenonError(
            .configuration,
            message: "Another instance runs with the name \"\(name)\"\(process.map { " (\($0))" } ?? ""): give this "
                + "one another \"instance\" in its configuration, or stop that one.")
    }

    fileprivate static func otherPolicy(_ others: [PostgresLookout.Other]) -> TenonError {
        TenonError(
            .configuration,
            message: others.map(\.sentence).joined(separator: " ") + " Give all the same policy, or start with "
                + "--rolling while you change one after the other.")
    }

    static func nameLost(_ name: String) -> TenonError {
        TenonError(
            .storeFailed,
            message: "Another process has the instance's name \"\(name)\" in PostgreSQL now, and this one stores "
                + "nothing: stop one of the two.",
            retryAfter: .seconds(10))
    }
}
