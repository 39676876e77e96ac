// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tenon

/// A caller's job. Exactly one of its two functions is called.
struct SQLiteJob: Sendable {
    /// Runs the job, and returns a function that tells the caller the result or the failure of its group.
    let run: @Sendable (SQLiteConnection) -> @Sendable (_ groupFailure: TenonError?) -> Void
    /// Tells the caller that the job was not run.
    let fail: @Sendable (TenonError) -> Void
}

extension SQLiteJob {
    fileprivate init<Value: Sendable>(
        _ continuation: CheckedContinuation<Result<Value, TenonError>, Never>,
        _ body: @escaping @Sendable (SQLiteConnection) -> Result<Value, TenonError>
    ) {
        self.init { connection in
            let result = body(connection)
            return { failure in continuation.resume(returning: failure.map { .failure($0) } ?? result) }
        } fail: {
            continuation.resume(returning: .failure($0))
        }
    }
}

extension BatchThread where Item == SQLiteJob {
    fileprivate func result<Value: Sendable>(
        of body: @escaping @Sendable (SQLiteConnection) -> Result<Value, TenonError>
    ) async throws(TenonError) -> Value {
        let result: Result<Value, TenonError> = await withCheckedContinuation { continuation in
            let job = SQLiteJob(continuation, body)
            if !add(job) { job.fail(.closed) }
        }
        return try result.get()
    }
}

/// The only connection that writes, and its thread. The jobs that queued during the last fsync form the next
/// transaction (decision: group-commit): all its steps are stored, or none is, and each caller is told so.
final class SQLiteWriter: Sendable {
    private let thread: BatchThread<SQLiteJob>

    /// At 4 MiB, the log is moved into the database after the callers have their answers.
    private static let longLog = 1_024

    /// - Parameters:
    ///   - cache: forgets the devices that a transaction changed.
    ///   - stamp: runs at the end of each transaction, and is part of it.
    ///   - folder: held until the connection is closed.
    init(
        _ connection: sending SQLiteConnection, holding folder: AuthorityFolder, cache: DeviceCache,
        stamp: @escaping @Sendable (SQLiteConnection) throws(TenonError) -> Void
    ) throws(TenonError) {
        let owner = SQLiteOwner(connection, folder)
        thread = try BatchThread { jobs in
            SQLiteWriter.commit(jobs, owner.connection, cache, stamp)
        } finish: {
            owner.connection?.checkpoint(all: true)
            owner.close()
        }
    }

    /// A step of a transaction. It is stored when this returns.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        try await thread.result { $0.step(body) }
    }

    func close() async { await thread.end() }

    /// Runs the jobs as one transaction, and tells each caller what became of it.
    static func commit(
        _ jobs: [SQLiteJob], _ connection: SQLiteConnection?, _ cache: DeviceCache,
        _ stamp: (SQLiteConnection) throws(TenonError) -> Void
    ) {
        guard let connection else { return }
        var answers: [@Sendable (TenonError?) -> Void] = []
        var failure: TenonError?
        do throws(TenonError) {
            try connection.begin()
            for job in jobs where connection.isInTransaction { answers.append(job.run(connection)) }
            guard connection.isInTransaction else { throw .takenBack }
            try stamp(connection)
            try connection.commit()
        } catch {
            connection.rollBack()
            failure = error
        }
        // The cache forgets before any caller is told, and also after a failure, whose changes may be stored.
        cache.forget(connection.takeChangedDevices())
        for answer in answers { answer(failure) }
        for job in jobs.dropFirst(answers.count) { job.fail(failure ?? .takenBack) }
        if connection.logPages >= longLog { connection.checkpoint() }
    }
}

/// Connections that only read, each with its thread: a read never waits for a commit.
final class SQLiteReaders: Sendable {
    private let threads: [BatchThread<SQLiteJob>]
    private let turn = Atomic(0)

    init(_ count: Int, _ path: String, holding folder: AuthorityFolder) throws(TenonError) {
        var threads: [BatchThread<SQLiteJob>] = []
        for _ in 0..<count {
            let owner = SQLiteOwner(try SQLiteConnection(path, .reader), folder)
            threads.append(
                try BatchThread { jobs in
                    guard let connection = owner.connection else { return }
                    for job in jobs { job.run(connection)(nil) }
                } finish: {
                    owner.close()
                })
        }
        self.threads = threads
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        let turn = turn.wrappingAdd(1, ordering: .relaxed).newValue
        return try await threads[Int(UInt(bitPattern: turn) % UInt(threads.count))].result { connection in
            Result { () throws(TenonError) in try body(connection) }
        }
    }

    func close() async {
        for thread in threads { await thread.end() }
    }
}

/// Carries a connection to its thread, which is the only one to touch it from then on, and keeps the folder locked
/// meanwhile.
private final class SQLiteOwner: Sendable {
    nonisolated(unsafe) private(set) var connection: SQLiteConnection?
    private nonisolated(unsafe) var folder: AuthorityFolder?

    init(_ connection: sending SQLiteConnection, _ folder: AuthorityFolder) {
        self.connection = connection
        self.folder = folder
    }

    func close() {
        connection = nil
        folder = nil
    }
}

extension TenonError {
    static let closed = TenonError(.storeClosed, message: "The store was closed: the authority is stopping.")

    static let takenBack = TenonError(
        .storeFailed, message: "The store's disk is full or failing. Nothing of this was stored. Free space.")
}

/// Caches the devices of a file that only this process writes, so that a request finds its device without a thread that
/// may wait for a disk. A changed device is forgotten before the caller that changed it is told.
final class DeviceCache: Sendable {
    private struct State {
        var devices: [String: Device] = [:]
        /// Keyed by row id, because SQLite reports changes by row id.
        var ids: [Int64: String] = [:]
        var changes = 0
    }

    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int = 20_000) { self.capacity = capacity }

    /// The device, nil if it is not cached, and the number of changes so far, which ``keep(_:at:since:)`` takes.
    func find(_ id: String) -> (device: Device?, changes: Int) {
        state.withLock { ($0.devices[id], $0.changes) }
    }

    /// Caches a device that was read, unless some device was changed since: it may have been this one.
    func keep(_ device: Device, at place: Int64, since changes: Int) {
        state.withLock { state in
            guard state.changes == changes else { return }
            if state.devices.count >= capacity { (state.devices, state.ids) = ([:], [:]) }
            state.devices[device.id] = device
            state.ids[place] = device.id
        }
    }

    func forget(_ places: [Int64]) {
        guard !places.isEmpty else { return }
        state.withLock { state in
            state.changes += 1
            for place in places {
                if let id = state.ids.removeValue(forKey: place) { state.devices[id] = nil }
            }
        }
    }
}
