// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
package import Tenon

/// Devices, keys, certificates and denied EKs in PostgreSQL, for any number of instances: a transaction is as if no
/// other ran at the time, whichever instance runs it, and durable when its function returns.
package final class PostgresStore: SQLDeviceStore {
    package struct Options: Sendable {
        /// A postgres:// URL.
        package var address: String
        /// The schema of the tables, which is made when it is missing: 1 to 63 of a-z 0-9 _, no digit first.
        package var schema: String
        /// Connections of this instance, each with a thread.
        package var connections: Int

        package init(address: String, schema: String = "tenon", connections: Int = 8) {
            self.address = address
            self.schema = schema
            self.connections = connections
        }
    }

    private typealias Job = @Sendable (PostgresConnection?) -> Void

    private let threads: [BatchThread<Job>]
    private let turn = Atomic(0)

    /// What one instance accepted, the others know: there is always an earlier life.
    let isNew = false
    let outbox = AuditOutbox()

    /// Connects, and makes the tables or brings older ones to this version. Blocks on the network.
    ///
    /// - Throws: ``TenonError/Code/configuration`` for an address that is not allowed or a server that forgets;
    ///   ``TenonError/Code/storeVersion``, ``TenonError/Code/storePermission``, ``TenonError/Code/storeFailed``.
    package init(options: Options) throws(TenonError) {
        let target = try PostgresTarget(options.address, schema: options.schema)
        try PostgresSchema.prepare(PostgresConnection(target), options.schema)
        var threads: [BatchThread<Job>] = []
        for _ in 0..<max(1, options.connections) {
            let owner = PostgresOwner(PostgresConnection(target))
            threads.append(
                try BatchThread { jobs in
                    for job in jobs { job(owner.connection) }
                } finish: {
                    owner.close()
                })
        }
        self.threads = threads
    }

    /// Ends what was asked for and closes the connections. Later calls throw ``TenonError/Code/storeClosed``.
    package func close() async {
        for thread in threads { await thread.end() }
    }

    /// Settles what all instances over this database have to have in common, like the CA: false when it is settled
    /// otherwise (security.md F2), unless as what this takes the place of.
    package func settle(
        _ name: String, as value: Digest, replacing former: Digest? = nil
    ) async throws(TenonError) -> Bool {
        try await write { connection throws(TenonError) in
            if let former {
                try connection.run(
                    "UPDATE settled SET value=? WHERE name=? AND value=?", SQLValue(value), .text(name),
                    SQLValue(former))
            }
            try connection.run("INSERT INTO settled VALUES (?, ?) ON CONFLICT DO NOTHING", .text(name), SQLValue(value))
            let found = try connection.run("SELECT value FROM settled WHERE name=?", .text(name))
            return try found.first?.blob(0) == value.rawRepresentation
        }
    }

    /// What the database knows of an instance's audit log.
    package func auditMark(of instance: String) async throws(TenonError) -> AuditMark? {
        try await read { connection throws(TenonError) in try AuditMark.latest(of: instance, in: connection) }
    }

    /// By how many milliseconds a clock is ahead of PostgreSQL's.
    package func clockDifference(from clock: any AuthorityClock) async throws(TenonError) -> Int64 {
        let rows = try await read { connection throws(TenonError) in
            try connection.run("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)")
        }
        return clock.now().wall - (try rows.first?.integer(0) ?? 0)
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        try await run { connection throws(TenonError) in try connection.transaction(body) }
    }

    /// Among serializable transactions it would be in the way of those that change something.
    func maintain<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        try await run { connection throws(TenonError) in
            try connection.transaction(isolation: "READ COMMITTED", body)
        }
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        try await run { connection throws(TenonError) in try connection.reading(body) }
    }

    private func run<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        let turn = turn.wrappingAdd(1, ordering: .relaxed).newValue
        let thread = threads[Int(UInt(bitPattern: turn) % UInt(threads.count))]
        let result: Result<Value, TenonError> = await withCheckedContinuation { continuation in
            let job: Job = { connection in
                guard let connection else { return continuation.resume(returning: .failure(.closed)) }
                continuation.resume(returning: Result { () throws(TenonError) in try body(connection) })
            }
            if !thread.add(job) { job(nil) }
        }
        return try result.get()
    }
}

/// Carries a connection to its thread, which alone touches it from then on.
private final class PostgresOwner: Sendable {
    nonisolated(unsafe) private(set) var connection: PostgresConnection?

    init(_ connection: sending PostgresConnection) { self.connection = connection }

    func close() { connection = nil }
}
