// SPDX-License-Identifier: Apache-2.0
internal import CPostgres
internal import Tenon

/// The address of PostgreSQL: a URL, or another form that libpq takes. It names its host; any host but this machine
/// needs `sslmode=verify-full` (decision: encrypted-stores).
struct PostgresTarget {
    private let text: String
    let schema: String
    /// Whether the connection stays on this machine. libpq does not encrypt its request to cancel a statement.
    let isLocal: Bool

    /// - Throws: ``TenonError/Code/configuration``.
    init(_ text: String, schema: String) throws(TenonError) {
        self.text = text
        self.schema = schema
        guard PostgresTarget.isSchema(schema) else {
            throw TenonError(.configuration, message: "The schema in PostgreSQL must be 1 to 63 of a-z 0-9 _.")
        }
        var options: [String: String] = [:]
        guard let found = PQconninfoParse(text, nil) else {
            throw TenonError(.configuration, message: "The address of PostgreSQL is not a postgres:// URL.")
        }
        defer { PQconninfoFree(found) }
        var option = found
        while let keyword = option.pointee.keyword {
            options[String(cString: keyword)] = option.pointee.val.map { String(cString: $0) }
            option += 1
        }
        guard options["password"] == nil else {
            throw TenonError(
                .configuration,
                message: "The address of PostgreSQL contains a password. Put it into a file, with passfile=PATH.")
        }
        let hosts = [options["host"], options["hostaddr"]].compactMap { $0 }
            .flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        guard !hosts.isEmpty else {
            throw TenonError(.configuration, message: "The address of PostgreSQL names no host.")
        }
        isLocal = hosts.allSatisfy(PostgresTarget.isLocal)
        guard isLocal || options["sslmode"] == "verify-full" else {
            throw TenonError(
                .configuration, message: "The address of PostgreSQL is another machine's. Add sslmode=verify-full."
            )
        }
    }

    static func isSchema(_ text: String) -> Bool {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
            default: false
            }
        }
        return isPlain && 1...63 ~= text.utf8.count && text.first?.isNumber == false
    }

    private static func isLocal(_ host: String) -> Bool {
        host.hasPrefix("/") || host.hasPrefix("@") || Address.isLoopback(host)
    }

    /// Starts a connection, which may already have failed when this returns. Only the lookup of a host name blocks.
    func connect() throws(TenonError) -> OpaquePointer {
        let options = [
            ("dbname", text), ("application_name", "tenon-authority"), ("client_encoding", "UTF8"),
            ("target_session_attrs", "read-write"), ("tcp_user_timeout", "10000"), ("keepalives_idle", "5"),
            ("keepalives_interval", "5"), ("keepalives_count", "3"),
        ]
        // NULL ends a list of strings. The 1 makes libpq parse the first value as a URL.
        let handle = withStrings(options.map(\.0)) { keywords in
            withStrings(options.map(\.1)) { PQconnectStartParams(keywords, $0, 1) }
        }
        guard let handle else { throw TenonError(.memory, message: "There is not enough memory for a connection.") }
        return handle
    }
}

/// Passes C strings to the body; they live as long as it runs.
private func withStrings<Value>(_ texts: [String], _ body: ([UnsafePointer<CChar>?]) -> Value) -> Value {
    let bytes = texts.flatMap { Array($0.utf8CString) }
    return bytes.withUnsafeBufferPointer { bytes in
        var pointers: [UnsafePointer<CChar>?] = []
        var start = 0
        for text in texts {
            pointers.append(bytes.baseAddress.map { $0 + start })
            start += text.utf8CString.count
        }
        return body(pointers + [nil])
    }
}
