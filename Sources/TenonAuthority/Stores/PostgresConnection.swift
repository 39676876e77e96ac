// SPDX-License-Identifier: Apache-2.0
internal import CPostgres
internal import Glibc
internal import Tenon

/// A connection with its prepared statements, which is made when it is needed, and made again when it was lost. One
/// thread uses it at a time.
///
/// Nothing here waits behind ``deadline``: a server that answers nobody costs its caller this long, and no more.
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
    /// Counts the connections that there were: what a session holds is gone with it.
    private(set) var sessions = 0
    /// What the last statement did, in PostgreSQL's word.
    private var tag = ""
    /// Whether the last statement failed because another transaction came first: this one must be run again.
    private var hasLostRace = false

    /// Transactions that come first in a row; each of them has succeeded, so that this many are a great crowd.
    private static let maxRaces = 200

    /// - Parameters:
    ///   - patience: what the server is told to allow a statement; the first deadline is as far away.
    ///   - cancels: tells the server what nobody waits for any more; without it the server's own time does.
    init(_ target: PostgresTarget, patience: Duration = .seconds(60), cancels: PostgresCancels? = nil) {
        self.target = target
        self.patience = patience
        self.cancels = cancels
        deadline = .now + patience
    }

    deinit { PQfinish(handle) }

    // MARK: Transactions

    /// Runs a body in a transaction as if no other ran at the time, again when another came first.
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

    /// A connection that was lost since its last use is noticed here, where nothing is lost with it.
    private func begin(_ isolation: String) throws(TenonError) {
        _ = try again { () throws(TenonError) in try run("BEGIN ISOLATION LEVEL \(isolation)") }
    }

    private func commit() throws(TenonError) {
        // Before the word is sent there is nothing to be in doubt about.
        _ = try prepared("COMMIT")
        do throws(TenonError) {
            try run("COMMIT")
        } catch {
            // A server that answers says itself that it did not commit.
            guard !isOpen else { throw error }
            throw .unknownCommit(error)
        }
        // What of a transaction that has failed is no error to PostgreSQL.
        guard tag == "COMMIT" else { throw TenonError.takenBack }
    }

    private func rollBack() {
        // A transaction that cannot be ended is ended with its connection.
        guard isOpen, (try? run("ROLLBACK")) == nil else { return }
        close()
    }

    /// Reads; each statement sees what is stored when it begins.
    func reading<Value>(_ body: (any SQLConnection) throws(TenonError) -> Value) throws(TenonError) -> Value {
        try again { () throws(TenonError) in try body(self) }
    }

    /// Does what changes nothing; a second time where the connection is found lost and there is time left.
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

    /// Runs several statements, which have no rows and no values.
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
            // Why it ends a connection the server may have said before.
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
        // Serialization, deadlock, and a row that somebody else put in since it was looked for.
        hasLostRace = ["40001", "40P01", "23505"].contains(state)
        // It ends the connection, also where its end has not come yet.
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
            // A commit that was acknowledged is on the disk. What takes longer than its caller waits is ended by the
            // server, too, and says first which lock it is that somebody holds. A plan is made once for a connection and
            // must not depend on how large a table was then. A scan that is not wanted costs so much by that, that the
            // server would compile the plan, for seconds on a busy machine.
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
    /// Rounded up, so that what is not over is not taken to be.
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
