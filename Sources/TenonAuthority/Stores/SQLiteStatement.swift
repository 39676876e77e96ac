// SPDX-License-Identifier: Apache-2.0
internal import CSQLite
internal import Tenon

/// A prepared statement. It belongs to its connection, and to that connection's thread.
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

    /// Runs the statement to its end.
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
    /// Names SQLite's code and its own sentence for it; what the store holds is never told.
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
        self.init(code, message: "The store's SQLite says \(extended): \(text).")
    }
}
