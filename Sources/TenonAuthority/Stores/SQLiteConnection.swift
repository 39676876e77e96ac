// SPDX-License-Identifier: Apache-2.0
internal import CSQLite
internal import Tenon

/// A connection with its prepared statements. One thread uses it at a time.
final class SQLiteConnection: SQLConnection {
    enum Role {
        case writer
        case reader
    }

    private let handle: OpaquePointer
    private var statements: [String: SQLiteStatement] = [:]
    /// The pages of the write-ahead log that were not yet in the database at the last commit.
    private(set) var logPages = 0
    /// How often writes were rolled back. A caller that counts rows in memory must then count again.
    private(set) var rollbacks = 0

    /// The row ids of the devices that were changed since this was last read, including changes that were rolled back.
    private var changedDevices: [Int64] = []

    /// The time to wait while another program holds the lock, which no program should.
    private static let patience: Int32 = 5_000

    init(_ path: String, _ role: Role) throws(TenonError) {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
        let status = sqlite3_open_v2(path, &handle, flags, nil)
        guard status == SQLITE_OK, let handle else {
            let error = TenonError(sqlite: status, of: handle)
            sqlite3_close_v2(handle)
            throw error
        }
        self.handle = handle
        sqlite3_busy_timeout(handle, SQLiteConnection.patience)
        try run("PRAGMA trusted_schema=OFF")
        try run("PRAGMA cell_size_check=ON")
        try run("PRAGMA temp_store=MEMORY")
        switch role {
        case .writer: try prepareToWrite()
        case .reader: try run("PRAGMA query_only=ON")
        }
    }

    deinit {
        statements = [:]
        sqlite3_close_v2(handle)
    }

    private func prepareToWrite() throws(TenonError) {
        try run("PRAGMA journal_mode=WAL")
        try run("PRAGMA synchronous=FULL")
        try run("PRAGMA foreign_keys=ON")
        // The hook replaces the checkpoint that a commit would otherwise make before the callers get their answers.
        sqlite3_wal_hook(handle, noteLog, Unmanaged.passUnretained(self).toOpaque())
        sqlite3_update_hook(handle, noteChange, Unmanaged.passUnretained(self).toOpaque())
    }

    func takeChangedDevices() -> [Int64] {
        defer { changedDevices = [] }
        return changedDevices
    }

    fileprivate func changed(_ place: Int64) { changedDevices.append(place) }

    fileprivate func log(has pages: Int32) { logPages = Int(pages) }

    @discardableResult
    func run(_ sql: String, _ values: [SQLValue]) throws(TenonError) -> [SQLRow] {
        if let statement = statements[sql] { return try statement.rows(values) }
        let statement = try SQLiteStatement(sql, in: handle)
        statements[sql] = statement
        return try statement.rows(values)
    }

    /// Runs several statements that have neither rows nor values.
    func runScript(_ sql: String) throws(TenonError) {
        let status = sqlite3_exec(handle, sql, nil, nil, nil)
        guard status == SQLITE_OK else { throw TenonError(sqlite: status, of: handle) }
    }

    var changes: Int { Int(sqlite3_changes64(handle)) }

    /// False also when SQLite has rolled the transaction back by itself, as it does when the disk is full.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    func begin() throws(TenonError) { try run("BEGIN IMMEDIATE") }

    func commit() throws(TenonError) { try run("COMMIT") }

    /// Rolls everything back. A failure leaves nothing behind: the transaction is over either way.
    func rollBack() {
        rollbacks += 1
        if isInTransaction { _ = try? run("ROLLBACK") }
    }

    /// Runs one step of a transaction. If it throws, its own writes are rolled back and the steps around it stay.
    func step<Value>(_ body: (SQLiteConnection) throws(TenonError) -> Value) -> Result<Value, TenonError> {
        let before = sqlite3_total_changes64(handle)
        do throws(TenonError) {
            try run("SAVEPOINT step")
            let value = try body(self)
            try run("RELEASE step")
            return .success(value)
        } catch {
            if isInTransaction { _ = try? runScript("ROLLBACK TO step; RELEASE step") }
            if sqlite3_total_changes64(handle) != before { rollbacks += 1 }
            return .failure(error)
        }
    }

    /// Moves the log into the database; `all` waits for readers and empties the log. A failure is harmless and tried
    /// again later: the log holds everything.
    func checkpoint(all: Bool = false) {
        let mode = all ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        sqlite3_wal_checkpoint_v2(handle, nil, mode, nil, nil)
        logPages = 0
    }
}

private func noteLog(
    _ connection: UnsafeMutableRawPointer?, _: OpaquePointer?, _: UnsafePointer<CChar>?, _ pages: Int32
) -> Int32 {
    if let connection { Unmanaged<SQLiteConnection>.fromOpaque(connection).takeUnretainedValue().log(has: pages) }
    return SQLITE_OK
}

/// Nothing has cached a new device yet.
private func noteChange(
    _ connection: UnsafeMutableRawPointer?, _ operation: Int32, _: UnsafePointer<CChar>?,
    _ table: UnsafePointer<CChar>?, _ place: Int64
) {
    guard let connection, let table, operation != SQLITE_INSERT, String(cString: table) == "devices" else { return }
    Unmanaged<SQLiteConnection>.fromOpaque(connection).takeUnretainedValue().changed(place)
}

/// A prepared statement, used only on the thread of its connection.
final class SQLiteStatement {
    private let handle: OpaquePointer

    /// SQLITE_TRANSIENT, a cast that Swift does not see: SQLite makes a copy.
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    init(_ sql: String, in connection: OpaquePointer) throws(TenonError) {
        var handle: OpaquePointer?
        let status = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard status == SQLITE_OK, let handle else { throw TenonError(sqlite: status, of: connection) }
        self.handle = handle
    }

    deinit { sqlite3_finalize(handle) }

    func rows(_ values: [SQLValue]) throws(TenonError) -> [SQLRow] {
        defer {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
        for (index, value) in values.enumerated() { try check(bind(value, at: Int32(index + 1))) }
        var rows: [SQLRow] = []
        while true {
            switch sqlite3_step(handle) {
            case SQLITE_ROW: rows.append(row)
            case SQLITE_DONE: return rows
            case let status: throw TenonError(sqlite: status, of: sqlite3_db_handle(handle))
            }
        }
    }

    private func bind(_ value: SQLValue, at index: Int32) -> Int32 {
        switch value {
        case .null: sqlite3_bind_null(handle, index)
        case .integer(let value): sqlite3_bind_int64(handle, index, value)
        case .text(let text):
            text.utf8.span.withUnsafeBytes {
                sqlite3_bind_text64(
                    handle, index, $0.baseAddress?.assumingMemoryBound(to: CChar.self), UInt64($0.count),
                    SQLiteStatement.copied, UInt8(SQLITE_UTF8))
            }
        // An empty array may have no address, which would be NULL.
        case .blob(let bytes) where bytes.isEmpty: sqlite3_bind_zeroblob(handle, index, 0)
        case .blob(let bytes):
            bytes.withUnsafeBytes {
                sqlite3_bind_blob64(handle, index, $0.baseAddress, UInt64($0.count), SQLiteStatement.copied)
            }
        }
    }

    private var row: SQLRow {
        SQLRow(values: (0..<sqlite3_column_count(handle)).map(value))
    }

    private func value(_ column: Int32) -> SQLValue {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_NULL: return .null
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, column))
        case SQLITE_TEXT:
            let start = sqlite3_column_text(handle, column)
            let count = Int(sqlite3_column_bytes(handle, column))
            return .text(String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self))
        default:
            let start = sqlite3_column_blob(handle, column)
            let count = Int(sqlite3_column_bytes(handle, column))
            return .blob([UInt8](UnsafeRawBufferPointer(start: start, count: count)))
        }
    }

    private func check(_ status: Int32) throws(TenonError) {
        guard status == SQLITE_OK else { throw TenonError(sqlite: status, of: sqlite3_db_handle(handle)) }
    }
}

extension TenonError {
    /// Names SQLite's code and its own sentence for it, and never stored data.
    init(sqlite status: Int32, of connection: OpaquePointer?) {
        let extended = connection.map(sqlite3_extended_errcode) ?? status
        let code: Code =
            switch status & 0xff {
            case SQLITE_BUSY, SQLITE_LOCKED: .storeBusy
            case SQLITE_CORRUPT, SQLITE_NOTADB: .storeCorrupt
            case SQLITE_PERM, SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_AUTH: .storePermission
            case SQLITE_NOMEM: .memory
            default: .storeFailed
            }
        let text = sqlite3_errstr(status).map { String(cString: $0) } ?? "unknown"
        self.init(code, message: "SQLite reports the error \(extended) for the store: \(text).")
    }
}
