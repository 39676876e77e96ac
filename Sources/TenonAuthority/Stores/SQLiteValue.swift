// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// What a column holds.
enum SQLiteValue {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    init(_ value: Int64?) { self = value.map(SQLiteValue.integer) ?? .null }
    init(_ value: String?) { self = value.map(SQLiteValue.text) ?? .null }
    init(_ value: [UInt8]?) { self = value.map(SQLiteValue.blob) ?? .null }
    init(_ value: Digest?) { self.init(value?.rawRepresentation) }
}

/// The columns of a row. The schema says what each is; another type there is a damaged store.
struct SQLiteRow {
    let values: [SQLiteValue]

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
