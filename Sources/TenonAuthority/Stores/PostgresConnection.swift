// SPDX-License-Identifier: Apache-2.0
internal import CPostgres
internal import Tenon

/// A connection with its prepared statements, which is made when it is needed, and made again when it was lost. One
/// thread uses it at a time.
final class PostgresConnection: SQLConnection {
    private let target: PostgresTarget
    private var handle: OpaquePointer?
    /// The names of the statements that this connection knows.
    private var statements: [String: String] = [:]
    private(set) var changes = 0
    /// What the last statement did, in PostgreSQL's word.
    private var tag = ""
    /// Whether the last statement failed as another transaction came first: this one has to be run again.
    private var hasLostRace = false

    /// Transactions that come first in a row; each of them has succeeded, so that this many are a great crowd.
    private static let patience = 200

    init(_ target: PostgresTarget) { self.target = target }

    deinit { PQfinish(handle) }

    // MARK: Transactions

    /// Runs a body in a transaction as if no other ran at the time, again when another came first.
    func transaction<Value>(
        isolation: String = "SERIALIZABLE", _ body: (any SQLConnection) throws(TenonError) -> Value
    ) throws(TenonError) -> Value {
        for _ in 0..<PostgresConnection.patience {
            try begin(isolation)
            do throws(TenonError) {
                let value = try body(self)
                try run("COMMIT")
                // What of a transaction that has failed is no error to PostgreSQL.
                guard tag == "COMMIT" else { throw TenonError.takenBack }
                return value
            } catch {
                let mayRunAgain = hasLostRace
                rollBack()
                guard mayRunAgain else { throw error }
            }
        }
        throw TenonError(
            .storeBusy, message: "Too many others change the same at this time: try again soon.",
            retryAfter: .seconds(1))
    }

    /// A connection that was lost since its last use is noticed here, where nothing is lost with it.
    private func begin(_ isolation: String) throws(TenonError) {
        try connect()
        do throws(TenonError) {
            try run("BEGIN ISOLATION LEVEL \(isolation)")
        } catch {
            guard !isOpen else { throw error }
            try connect()
            try run("BEGIN ISOLATION LEVEL \(isolation)")
        }
    }

    private func rollBack() {
        // A transaction that cannot be ended is ended with its connection.
        guard isOpen, (try? run("ROLLBACK")) == nil else { return }
        close()
    }

    /// Reads; each statement sees what is stored when it begins.
    func reading<Value>(_ body: (any SQLConnection) throws(TenonError) -> Value) throws(TenonError) -> Value {
        try connect()
        do throws(TenonError) {
            return try body(self)
        } catch {
            guard !isOpen else { throw error }
            try connect()
            return try body(self)
        }
    }

    // MARK: Statements

    func run(_ sql: String, _ values: [SQLValue]) throws(TenonError) -> [SQLRow] {
        hasLostRace = false
        let name = try prepared(sql)
        let parameters = PostgresParameters(values)
        let result = parameters.withPointers { count, pointers, lengths, formats in
            PQexecPrepared(handle, name, count, pointers, lengths, formats, 1)
        }
        defer { PQclear(result) }
        try check(result)
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
        let result = PQexec(handle, sql)
        defer { PQclear(result) }
        try check(result)
    }

    private func prepared(_ sql: String) throws(TenonError) -> String {
        if let name = statements[sql] { return name }
        let name = "s\(statements.count)"
        let parts = sql.split(separator: "?", omittingEmptySubsequences: false)
        let numbered = parts.dropFirst().enumerated().reduce(String(parts[0])) { "\($0)$\($1.offset + 1)\($1.element)" }
        let result = PQprepare(handle, name, numbered, 0, nil)
        defer { PQclear(result) }
        try check(result)
        statements[sql] = name
        return name
    }

    private func check(_ result: OpaquePointer?) throws(TenonError) {
        let status = PQresultStatus(result)
        if status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK { return }
        let state = PQresultErrorField(result, Int32(tenon_postgres_sqlstate)).map { String(cString: $0) }
        // Serialization, deadlock, and a row that somebody else put in since it was looked for.
        hasLostRace = ["40001", "40P01", "23505"].contains(state)
        throw TenonError(postgres: isOpen ? state : nil)
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
        guard isOpen else {
            close()
            throw TenonError(postgres: nil)
        }
        // A commit that was acknowledged is on the disk; who holds locks and hangs is sent away.
        try runScript(
            """
            SET search_path=\(target.schema); SET synchronous_commit=on; SET statement_timeout=10000; SET lock_timeout=10000;
            SET idle_in_transaction_session_timeout=10000; SET client_min_messages=error
            """)
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

extension TenonError {
    /// Names PostgreSQL's code and never its sentence, which may hold what the store holds.
    init(postgres state: String?) {
        guard let state else {
            self.init(
                .storeFailed, message: "PostgreSQL cannot be reached, or has gone away: try again soon.",
                retryAfter: .seconds(1))
            return
        }
        let code: Code =
            switch state.prefix(2) {
            case "28", "42": .storePermission
            case "40", "55": .storeBusy
            case "53" where state == "53200": .memory
            default: .storeFailed
            }
        self.init(code, message: "PostgreSQL refuses with \(state).")
    }
}
