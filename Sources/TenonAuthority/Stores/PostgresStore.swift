// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
package import Tenon

/// Devices, keys, certificates and denied EKs in PostgreSQL, for any number of instances. Transactions are serializable
/// over all instances, and durable when their function returns.
package final class PostgresStore: SQLDeviceStore, WatchedStore {
    package struct Options: Sendable {
        /// A postgres:// URL.
        package var address: String
        /// The schema of the tables, which is made when it is missing: 1 to 63 of a-z 0-9 _, no digit first.
        package var schema: String
        /// Connections of this instance, each with a thread.
        package var connections: Int

        /// Jobs that may wait for a connection; more are refused.
        package var waiting: Int
        /// The time within which a call ends, whatever the server does.
        package var deadline: Duration
        /// The services whose tables are made, too.
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

    /// The most connections that an instance has: those of its options, and one for its look.
    package static func connections(_ options: Options) -> Int { max(1, options.connections) + 1 }

    private struct Job: Sendable {
        let deadline: ContinuousClock.Instant
        /// Takes a connection, or the reason why the job is not run.
        let run: @Sendable (Result<PostgresConnection, TenonError>) -> Void
    }

    private let options: Options
    private let threads: JobThreads<Job>
    private let watch: JobThreads<Job>
    private let lookout: PostgresLookout
    /// The last fault that a request met, and when; nil once a later request was answered.
    private let met = Mutex<(fault: TenonError, at: ContinuousClock.Instant)?>(nil)

    /// Other instances may have accepted requests before, so the store never counts as new.
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

    /// The end of an instance's audit log, as the database knows it.
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
            // The job has waited for its turn as long as its caller is willing to wait.
            guard ContinuousClock.now < job.deadline else { return job.run(.failure(.postgresQueue)) }
            connection.deadline = job.deadline
            job.run(.success(connection))
        } finish: { number in
            owners[number].close()
        }
    }

    /// Finishes the jobs that were asked for, gives back the instance's name, and closes the connections, each within
    /// its deadline whatever the server does. Later calls throw ``TenonError/Code/storeClosed``.
    package func close() async {
        await threads.end()
        try? await watching { [lookout] connection throws(TenonError) in try lookout.leave(connection) }
        await watch.end()
    }

    // MARK: What the instances have in common

    /// Takes a name for this instance alone, until it ends or its connection does.
    ///
    /// - Parameters:
    ///   - policies: for each app, the digest of the rules for its devices.
    ///   - isRolling: whether the instances' policies may differ for now.
    /// - Returns: sentences that say which instance has another policy; empty unless a change is rolled out.
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

    /// Checks whether a request would be answered: it writes, and needs each table that a registration writes to, over
    /// a connection that no request holds up. It also shows that this instance is alive.
    ///
    /// - Returns: PostgreSQL's time, in milliseconds since 1970.
    /// - Throws: ``TenonError/Code/storeFailed`` and the like within the deadline, in PostgreSQL's own words.
    package func look() async throws(TenonError) -> Int64? {
        let time = try await watching { [lookout] connection throws(TenonError) in try lookout.look(connection) }
        // A good connection here proves nothing about the connections that requests fail to get.
        let now = ContinuousClock.now
        if let met = met.withLock({ $0 }), now - met.at < options.deadline { throw met.fault }
        return time
    }

    /// Settles a value that all instances over this database must share, like the CA. False when another value is
    /// settled (decision: authority-keys), unless it is the one that this value replaces.
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

    /// Adds "Nothing was stored" to an error whose outcome is not in doubt.
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

    /// Runs at a lower isolation level: a serializable transaction would get in the way of those that change something.
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

/// Carries a connection to its thread, which is the only one to touch it from then on.
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
