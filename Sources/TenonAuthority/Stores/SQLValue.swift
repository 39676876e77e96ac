// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// A connection to a database within a transaction, as the functions of ``SQLDeviceStore`` need it.
protocol SQLConnection: AnyObject {
    /// Runs a statement, whose values stand as `?`, and gives its rows.
    @discardableResult
    func run(_ sql: String, _ values: [SQLValue]) throws(TenonError) -> [SQLRow]

    /// Runs several statements, which have no rows and no values.
    func runScript(_ sql: String) throws(TenonError)

    /// Rows that the last INSERT, UPDATE or DELETE changed.
    var changes: Int { get }
}

extension SQLConnection {
    @discardableResult
    func run(_ sql: String, _ values: SQLValue...) throws(TenonError) -> [SQLRow] { try run(sql, values) }
}

/// What a column holds.
enum SQLValue {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    init(_ value: Int64?) { self = value.map(SQLValue.integer) ?? .null }
    init(_ value: String?) { self = value.map(SQLValue.text) ?? .null }
    init(_ value: [UInt8]?) { self = value.map(SQLValue.blob) ?? .null }
    init(_ value: Digest?) { self.init(value?.rawRepresentation) }
}

/// The columns of a row. The schema says what each is; another type there is a damaged store.
struct SQLRow {
    let values: [SQLValue]

    func optionalInteger(_ column: Int) throws(TenonError) -> Int64? {
        switch values[column] {
        case .integer(let value): value
        case .null: nil
        default: throw .damaged("a value")
        }
    }

    func optionalText(_ column: Int) throws(TenonError) -> String? {
        switch values[column] {
        case .text(let value): value
        case .null: nil
        default: throw .damaged("a value")
        }
    }

    func optionalBlob(_ column: Int) throws(TenonError) -> [UInt8]? {
        switch values[column] {
        case .blob(let value): value
        case .null: nil
        default: throw .damaged("a value")
        }
    }

    func integer(_ column: Int) throws(TenonError) -> Int64 { try present(optionalInteger(column)) }
    func text(_ column: Int) throws(TenonError) -> String { try present(optionalText(column)) }
    func blob(_ column: Int) throws(TenonError) -> [UInt8] { try present(optionalBlob(column)) }

    private func present<Value>(_ value: Value?) throws(TenonError) -> Value {
        guard let value else { throw .damaged("a value") }
        return value
    }
}
