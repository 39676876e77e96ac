// SPDX-License-Identifier: Apache-2.0
internal import CPostgres
internal import Glibc
internal import Tenon

/// A connection with its prepared statements. It connects when it is first needed and reconnects after a loss. One
/// thread uses it at a time.
///
/// Nothing here waits longer than ``deadline``, even if the server never answers.
final class PostgresConnection: SQLConnection {
    /// When the call that uses the connection must be over.
    var deadline: ContinuousClock.Instant

    private let target: PostgresTarget
    private let patience: Duration
    private let cancels: PostgresCancels?
    private var handle: OpaquePointer?
    /// The names of the statements that this connection knows.
    private var statements: [String: String] = [:]
    private(set) var changes = 0
    /// Counts the connections that were made. A lost session has lost everything that it held.
    private(set) var sessions = 0
    /// PostgreSQL's command tag of the last statement.
    private var tag = ""
    /// Whether the last statement failed because another transaction came first. Then this transaction must run again.
    private var hasLostRace = false

    /// How often a transaction may lose the race in a row. Each time another transaction succeeded, so this many mean
    /// extreme contention.
    private static let maxRaces = 200

    /// - Parameters:
    ///   - patience: the statement timeout that the server is told; the first deadline is as far away.
    ///   - cancels: cancels abandoned statements; without it, only the server's own timeout ends them.
    init(_ target: PostgresTarget, patience: Duration = .seconds(60), cancels: PostgresCancels? = nil) {
        self.target = target
        self.patience = patience
        self.cancels = cancels
        deadline = .now + patience
    }

    deinit { PQfinish(handle) }

    // MARK: Transactions

    /// Runs a body in a serializable transaction, and again when another transaction came first.
    ///
    /// - Throws: ``TenonError/Code/outcomeUnknown`` when the server was told to commit and did not answer; any other
    ///   error means that nothing was stored.
    func transaction<Value>(
        isolation: String = "SERIALIZABLE", _ body: (any SQLConnection) throws(TenonError) -> Value
    ) throws(TenonError) -> Value {
        for _ in 0..<PostgresConnection.maxRaces where ContinuousClock.now < deadline {
            try begin(isolation)
            do throws(TenonError) {
                let value = try body(self)
                try commit()
                return value
            } catch {
                let mayRunAgain = hasLostRace
                rollBack()
                guard mayRunAgain else { throw error }
            }
        }
        throw TenonError(
            .storeBusy, message: "Too many others are changing the same data. Try again soon.",
            retryAfter: .seconds(1))
    }

    /// Notices here, before anything is at stake, that the connection was lost since its last use.
    private func begin(_ isolation: String) throws(TenonError) {
        _ = try again { () throws(TenonError) in try run("BEGIN ISOLATION LEVEL \(isolation)") }
    }

    private func commit() throws(TenonError) {
        // A failure before COMMIT is sent leaves no doubt about the outcome.
        _ = try prepared("COMMIT")
        do throws(TenonError) {
            try run("COMMIT")
        } catch {
            // An error that the server itself sends means that it did not commit.
            guard !isOpen else { throw error }
            throw .unknownCommit(error)
        }
        // PostgreSQL reports no error for the COMMIT of a failed transaction; only its tag differs.
        guard tag == "COMMIT" else { throw TenonError.takenBack }
    }

    private func rollBack() {
        // If the rollback fails, closing the connection ends the transaction.
        guard isOpen, (try? run("ROLLBACK")) == nil else { return }
        close()
    }

    /// Reads; each statement sees what is stored when it begins.
    func reading<Value>(_ body: (any SQLConnection) throws(TenonError) -> Value) throws(TenonError) -> Value {
        try again { () throws(TenonError) in try body(self) }
    }

    /// Runs a body that changes nothing, a second time if the connection proves lost and time is left.
    private func again<Value>(_ body: () throws(TenonError) -> Value) throws(TenonError) -> Value {
        try connect()
        do throws(TenonError) {
            return try body()
        } catch {
            guard !isOpen, ContinuousClock.now < deadline else { throw error }
            try connect()
            return try body()
        }
    }

    // MARK: Statements

    func run(_ sql: String, _ values: [SQLValue]) throws(TenonError) -> [SQLRow] {
        let name = try prepared(sql)
        let parameters = PostgresParameters(values)
        let result = try answer {
            parameters.withPointers { count, pointers, lengths, formats in
                PQsendQueryPrepared(handle, name, count, pointers, lengths, formats, 1)
            }
        }
        defer { PQclear(result) }
        tag = String(cString: PQcmdStatus(result))
        changes = Int(String(cString: PQcmdTuples(result))) ?? 0
        var rows: [SQLRow] = []
        for row in 0..<PQntuples(result) {
            var values: [SQLValue] = []
            for column in 0..<PQnfields(result) { values.append(try SQLValue(result, row, column)) }
            rows.append(SQLRow(values: values))
        }
        return rows
    }

    /// Runs several statements that have neither rows nor values.
    func runScript(_ sql: String) throws(TenonError) {
        PQclear(try answer { PQsendQuery(handle, sql) })
    }

    private func prepared(_ sql: String) throws(TenonError) -> String {
        if let name = statements[sql] { return name }
        let name = "s\(statements.count)"
        let parts = sql.split(separator: "?", omittingEmptySubsequences: false)
        let numbered = parts.dropFirst().enumerated().reduce(String(parts[0])) { "\($0)$\($1.offset + 1)\($1.element)" }
        PQclear(try answer { PQsendPrepare(handle, name, numbered, 0, nil) })
        statements[sql] = name
        return name
    }

    // MARK: Waiting

    /// Sends, and waits for the last result, which the caller clears.
    private func answer(_ send: () -> Int32) throws(TenonError) -> OpaquePointer? {
        hasLostRace = false
        guard send() == 1 else { throw lost() }
        var last: OpaquePointer?
        do throws(TenonError) {
            while true {
                try waitForResult()
                guard let result = PQgetResult(handle) else { break }
                PQclear(last)
                last = result
            }
            try check(last)
        } catch {
            defer { PQclear(last) }
            // The server may have said earlier why it ends the connection.
            if !isOpen, last != nil { try check(last) }
            throw error
        }
        return last
    }

    private func waitForResult() throws(TenonError) {
        while true {
            let left = PQflush(handle)
            guard left >= 0 else { throw lost() }
            if left == 0 && PQisBusy(handle) == 0 { return }
            try wait(for: left == 0 ? POLLIN : POLLIN | POLLOUT)
            guard PQconsumeInput(handle) == 1 else { throw lost() }
        }
    }

    /// - Throws: ``TenonError/Code/storeFailed`` behind the deadline; the connection is closed then, and the server is
    ///   told that nobody waits.
    private func wait(for events: Int32) throws(TenonError) {
        var poll = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
        guard poll.fd >= 0 else { throw lost() }
        while true {
            let left = (deadline - .now).milliseconds
            let count = left > 0 ? Glibc.poll(&poll, 1, Int32(clamping: left)) : 0
            if count > 0 { return }
            if count < 0 && errno == EINTR { continue }
            if target.isLocal, let cancel = PQgetCancel(handle) { cancels?.add(cancel) }
            close()
            throw .postgresOverdue(patience)
        }
    }

    private func lost() -> TenonError {
        let error = TenonError(lostPostgres: String(cString: PQerrorMessage(handle)))
        close()
        return error
    }

    private func check(_ result: OpaquePointer?) throws(TenonError) {
        let status = PQresultStatus(result)
        if status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK { return }
        func field(_ name: Int) -> String? { PQresultErrorField(result, Int32(name)).map { String(cString: $0) } }
        guard let state = field(tenon_postgres_sqlstate) else { throw lost() }
        // Serialization failure, deadlock, and a row that somebody else inserted after this transaction looked for it.
        hasLostRace = ["40001", "40P01", "23505"].contains(state)
        // The server ends the connection, even if its closing has not arrived yet.
        if field(tenon_postgres_severity) != "ERROR" { close() }
        throw TenonError(postgres: state, field(tenon_postgres_primary) ?? "")
    }

    // MARK: The connection

    private var isOpen: Bool { PQstatus(handle) == CONNECTION_OK }

    func close() {
        PQfinish(handle)
        handle = nil
        statements = [:]
    }

    func connect() throws(TenonError) {
        if isOpen { return }
        close()
        handle = try target.connect()
        do throws(TenonError) {
            try finishConnecting()
            PQsetnonblocking(handle, 1)
            let limit = patience.milliseconds
            // An acknowledged commit is on the disk. The server, too, ends a statement that takes longer than its
            // caller waits; the lock timeout comes first, so that its message names the lock. A plan is made once for
            // each connection and must not depend on the size that a table had then, so sequential scans are off. That
            // makes them look so expensive that the server would compile the plan, for seconds on a busy machine; so
            // that is off, too.
            try runScript(
                """
                SET search_path=\(target.schema); SET synchronous_commit=on; SET statement_timeout=\(limit);
                SET lock_timeout=\(limit * 3 / 4); SET idle_in_transaction_session_timeout=\(limit * 2);
                SET client_min_messages=error; SET enable_seqscan=off; SET jit=off
                """)
        } catch {
            close()
            throw error
        }
        sessions += 1
    }

    private func finishConnecting() throws(TenonError) {
        guard PQstatus(handle) != CONNECTION_BAD else { throw lost() }
        var state = PGRES_POLLING_WRITING
        while state != PGRES_POLLING_OK {
            guard state == PGRES_POLLING_READING || state == PGRES_POLLING_WRITING else { throw lost() }
            try wait(for: state == PGRES_POLLING_READING ? POLLIN : POLLOUT)
            state = PQconnectPoll(handle)
        }
    }
}

extension Duration {
    /// Rounded up, so that a wait that is not over never counts as zero.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}

extension SQLValue {
    /// The types that our tables have, and that of a constant.
    private static let (bytes, integer8, integer4, characters) = (Oid(17), Oid(20), Oid(23), Oid(25))

    fileprivate init(_ result: OpaquePointer?, _ row: Int32, _ column: Int32) throws(TenonError) {
        guard PQgetisnull(result, row, column) == 0, let start = PQgetvalue(result, row, column) else {
            self = .null
            return
        }
        let value = [UInt8](
            UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, row, column))))
        switch PQftype(result, column) {
        case SQLValue.bytes: self = .blob(value)
        case SQLValue.integer8, SQLValue.integer4:
            let isNegative = value.first ?? 0 >= 0x80
            self = .integer(value.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) })
        case SQLValue.characters: self = .text(String(decoding: value, as: UTF8.self))
        default: throw .damaged("a value")
        }
    }
}
