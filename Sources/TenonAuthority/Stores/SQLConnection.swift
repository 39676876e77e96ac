// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A connection to a database within a transaction, for the functions of ``SQLDeviceStore`` and the steps of services.
package protocol SQLConnection: AnyObject {
    /// Runs a statement, whose values stand as `?`, and gives its rows.
    @discardableResult
    func run(_ sql: String, _ values: [SQLValue]) throws(TenonError) -> [SQLRow]

    /// Runs several statements that have neither rows nor values.
    func runScript(_ sql: String) throws(TenonError)

    /// The number of rows that the last INSERT, UPDATE or DELETE changed.
    var changes: Int { get }
}

extension SQLConnection {
    /// Runs a statement, whose values stand as `?`, and gives its rows.
    @discardableResult
    package func run(_ sql: String, _ values: SQLValue...) throws(TenonError) -> [SQLRow] { try run(sql, values) }
}

/// The value of a column.
package enum SQLValue: Sendable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    package init(_ value: Int64?) { self = value.map(SQLValue.integer) ?? .null }
    package init(_ value: String?) { self = value.map(SQLValue.text) ?? .null }
    package init(_ value: [UInt8]?) { self = value.map(SQLValue.blob) ?? .null }
    package init(_ value: Digest?) { self.init(value?.rawRepresentation) }
}

/// The columns of a row. The schema says the type of each; any other type means a damaged store.
package struct SQLRow: Sendable {
    let values: [SQLValue]

    package func optionalInteger(_ column: Int) throws(TenonError) -> Int64? {
        switch values[column] {
        case .integer(let value): value
        case .null: nil
        default: throw .damaged("a value")
        }
    }

    package func optionalText(_ column: Int) throws(TenonError) -> String? {
        switch values[column] {
        case .text(let value): value
        case .null: nil
        default: throw .damaged("a value")
        }
    }

    package func optionalBlob(_ column: Int) throws(TenonError) -> [UInt8]? {
        switch values[column] {
        case .blob(let value): value
        case .null: nil
        default: throw .damaged("a value")
        }
    }

    package func integer(_ column: Int) throws(TenonError) -> Int64 { try present(optionalInteger(column)) }
    package func text(_ column: Int) throws(TenonError) -> String { try present(optionalText(column)) }
    package func blob(_ column: Int) throws(TenonError) -> [UInt8] { try present(optionalBlob(column)) }

    private func present<Value>(_ value: Value?) throws(TenonError) -> Value {
        guard let value else { throw .damaged("a value") }
        return value
    }
}

/// The tables of services, whose versions are rows beside those of the authority's own tables.
enum ServiceTables {
    /// Makes the tables, or upgrades those of an earlier version, within a transaction. Makes nothing if no service has
    /// tables.
    ///
    /// - Throws: ``TenonError/Code/storeVersion`` for tables of a later version.
    static func prepare(_ services: [HostedService], in connection: any SQLConnection) throws(TenonError) {
        let services = services.filter { !$0.tables.isEmpty }
        guard !services.isEmpty else { return }
        try connection.runScript(
            "CREATE TABLE IF NOT EXISTS service_versions (service TEXT PRIMARY KEY, version BIGINT NOT NULL)")
        for service in services {
            let rows = try connection.run("SELECT version FROM service_versions WHERE service=?", .text(service.name))
            let (found, version) = (Int(try rows.first?.integer(0) ?? 0), service.tables.count)
            guard 0...version ~= found else {
                throw TenonError(
                    .storeVersion,
                    message:
                        "The tables of \(service.name) have version \(found), but this Tenon knows \(version): run "
                        + "the later Tenon.")
            }
            guard found < version else { continue }
            for migration in service.tables[found...] { try connection.runScript(migration) }
            try connection.run("DELETE FROM service_versions WHERE service=?", .text(service.name))
            try connection.run(
                "INSERT INTO service_versions VALUES (?, ?)", .text(service.name), .integer(Int64(version)))
        }
    }
}
