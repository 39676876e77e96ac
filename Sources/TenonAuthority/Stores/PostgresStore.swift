// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
package import Tenon

/// Devices, keys, certificates and denied EKs in PostgreSQL, for any number of instances: a transaction is as if no
/// other ran at the time, whichever instance runs it, and durable when its function returns.
package final class PostgresStore: SQLDeviceStore, WatchedStore {
    package struct Options: Sendable {
        /// A postgres:// URL.
        package var address: String
        /// The schema of the tables, which is made when it is missing: 1 to 63 of a-z 0-9 _, no digit first.
        package var schema: String
        /// Connections of this instance, each with a thread.
        package var connections: Int

        /// Jobs that wait for one of them; more are refused.
        package var waiting: Int
        /// In which a call has its answer, whatever the server does.
        package var deadline: Duration
        /// Whose tables are made, too.
        package var services: [HostedService] = []

        package init(
            address: String, schema: String = "tenon", connections: Int = 8, waiting: Int = 512,
            deadline: Duration = .seconds(2)
        ) {
            self.address = address
            self.schema = schema
            self.connections = connections
            self.waiting = waiting
            self.deadline = deadline
        }
    }

    /// Connections that an instance has at most: those of its options, and that of its look.
    package static func connections(_ options: Options) -> Int { max(1, options.connections) + 1 }

    private struct Job: Sendable {
        let deadline: ContinuousClock.Instant
        /// With a connection, or with the reason why it is not run.
        let run: @Sendable (Result<PostgresConnection, TenonError>) -> Void
    }

    private let options: Options
    private let threads: JobThreads<Job>
    private let watch: JobThreads<Job>
    private let lookout: PostgresLookout
    /// The last fault that a request met, and when; nothing where one was answered since.
    private let met = Mutex<(fault: TenonError, at: ContinuousClock.Instant)?>(nil)

    /// What one instance accepted, the others know: there is always an earlier life.
    let isNew = false
    let outbox = AuditOutbox()

    /// Connects, and makes the tables or brings older ones to this version. Blocks on the network.
    ///
    /// - Throws: ``TenonError/Code/configuration`` for an address that is not allowed or a server that forgets;
    ///   ``TenonError/Code/storeVersion``, ``TenonError/Code/storePermission``, ``TenonError/Code/storeFailed``.
    package init(options: Options) throws(TenonError) {
        let target = try PostgresTarget(options.address, schema: options.schema)
        try PostgresSchema.prepare(
            PostgresConnection(target, patience: .seconds(30)), options.schema, options.services)
        let cancels = try PostgresCancels()
        func owners(_ count: Int) -> [PostgresOwner] {
            (0..<count).map { _ in
                PostgresOwner(PostgresConnection(target, patience: options.deadline, cancels: cancels))
            }
        }
        self.options = options
        lookout = PostgresLookout(schema: options.schema)
        threads = try PostgresStore.start(owners(max(1, options.connections)), waiting: options.waiting)
        do throws(TenonError) {
            watch = try PostgresStore.start(owners(1), waiting: 16)
        } catch {
            threads.close()
            throw error
        }
    }

    /// What the database knows of an instance's audit log.
    package func auditMark(of instance: String) async throws(TenonError) -> AuditMark? {
        try await read { connection throws(TenonError) in try AuditMark.latest(of: instance, in: connection) }
    }

    deinit {
        threads.close()
        watch.close()
    }

    private static func start(_ owners: [PostgresOwner], waiting: Int) throws(TenonError) -> JobThreads<Job> {
        try JobThreads.start(owners.count, limit: waiting) { number, job in
            guard let connection = owners[number].connection else { return job.run(.failure(.closed)) }
            // It has waited for its turn as long as its caller waits.
            guard ContinuousClock.now < job.deadline else { return job.run(.failure(.postgresQueue)) }
            connection.deadline = job.deadline
            job.run(.success(connection))
        } finish: { number in
            owners[number].close()
        }
    }

    /// Ends what was asked for, gives back the instance's name, and closes the connections, each in its time whatever
    /// the server does. Later calls throw ``TenonError/Code/storeClosed``.
    package func close() async {
        await threads.end()
        try? await watching { [lookout] connection throws(TenonError) in try lookout.leave(connection) }
        await watch.end()
    }

    // MARK: What the instances have in common

    /// Takes a name for this instance alone, until it ends or its connection does.
    ///
    /// - Parameters:
    ///   - policies: by app, the digest of what its devices may and must do.
    ///   - isRolling: whether instances may differ in it for now.
    /// - Returns: sentences that say which instance has another policy; none but for a rolling change.
    /// - Throws: ``TenonError/Code/configuration`` when an instance of this name runs, or one with another policy.
    package func enter(
        as name: String, policies: [String: Digest], isRolling: Bool = false
    ) async throws(TenonError) -> [String] {
        try await watching(within: PostgresLookout.patience) { [lookout] connection throws(TenonError) in
            try lookout.enter(connection, PostgresLease(name: name), policies, isRolling: isRolling)
        }
    }

    var lease: PostgresLease? { lookout.lease }

    package let watchedName = "postgres"

    /// Asks as a request would be answered: writes, where it needs each table that a registration writes to, on a
    /// connection that no request holds up. It shows that this instance lives, too.
    ///
    /// - Returns: PostgreSQL's time, in milliseconds since 1970.
    /// - Throws: ``TenonError/Code/storeFailed`` and the like within the deadline, in PostgreSQL's own words.
    package func look() async throws(TenonError) -> Int64? {
        let time = try await watching { [lookout] connection throws(TenonError) in try lookout.look(connection) }
        // A connection that is there says nothing of those that requests cannot have.
        let now = ContinuousClock.now
        if let met = met.withLock({ $0 }), now - met.at < options.deadline { throw met.fault }
        return time
    }

    /// Settles what all instances over this database have to have in common, like the CA: false when it is settled
    /// otherwise (decision: authority-keys), unless as what this takes the place of.
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

    // MARK: Jobs

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        try await undone { () throws(TenonError) in
            try await run { connection throws(TenonError) in try connection.transaction(body) }
        }
    }

    /// What fails without being in doubt has changed nothing, and says so.
    private func undone<Value: Sendable>(
        _ body: () async throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        do throws(TenonError) {
            return try await body()
        } catch {
            guard [.storeFailed, .storeBusy, .storePermission].contains(error.code) else { throw error }
            throw TenonError(error.code, message: error.message + " Nothing was stored.", retryAfter: error.retryAfter)
        }
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
        do throws(TenonError) {
            let value = try await run(on: threads, within: options.deadline, body)
            met.withLock { $0 = nil }
            return value
        } catch {
            let isFault = [.storeFailed, .storePermission, .outcomeUnknown].contains(error.code)
            if isFault, error.retryAfter != nil { met.withLock { $0 = (error, .now) } }
            throw error
        }
    }

    private func watching<Value: Sendable>(
        within time: Duration? = nil, _ body: @escaping @Sendable (PostgresConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        try await run(on: watch, within: time ?? options.deadline, body)
    }

    private func run<Value: Sendable>(
        on threads: JobThreads<Job>, within time: Duration,
        _ body: @escaping @Sendable (PostgresConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        let deadline = ContinuousClock.now + time
        let result: Result<Value, TenonError> = await withCheckedContinuation { continuation in
            let job = Job(deadline: deadline) { connection in
                continuation.resume(
                    returning: connection.flatMap { connection in
                        Result { () throws(TenonError) in try body(connection) }
                    })
            }
            switch threads.add(job) {
            case .added: break
            case .full: job.run(.failure(.postgresQueue))
            case .closed: job.run(.failure(.closed))
            }
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

extension TenonError {
    fileprivate static let postgresQueue = TenonError(
        .storeBusy, message: "Too many requests wait for PostgreSQL, and this one was not begun. Try again soon.",
        retryAfter: .seconds(1))
}
