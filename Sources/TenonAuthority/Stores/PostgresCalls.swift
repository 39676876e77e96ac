// SPDX-License-Identifier: Apache-2.0
internal import CPostgres
internal import Tenon

/// The values of a statement, in PostgreSQL's binary forms.
struct PostgresParameters {
    private var bytes: [CChar] = []
    /// The offset of each value; nil is NULL.
    private var starts: [Int?] = []
    private var lengths: [Int32] = []

    init(_ values: [SQLValue]) {
        for value in values {
            switch value {
            case .null: add(nil)
            case .integer(let value): add((0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) })
            case .text(let text): add(Array(text.utf8))
            case .blob(let bytes): add(bytes)
            }
        }
        // An empty value has an address too, else it would be NULL.
        bytes.append(0)
    }

    private mutating func add(_ value: [UInt8]?) {
        starts.append(value == nil ? nil : bytes.count)
        lengths.append(Int32(value?.count ?? 0))
        bytes += value?.map { CChar(bitPattern: $0) } ?? []
    }

    /// Count, addresses, lengths and formats.
    func withPointers<Value>(
        _ body: (Int32, [UnsafePointer<CChar>?], [Int32], [Int32]) -> Value
    ) -> Value {
        bytes.withUnsafeBufferPointer { bytes in
            let pointers = starts.map { start in start.flatMap { start in bytes.baseAddress.map { $0 + start } } }
            return body(
                Int32(starts.count), pointers, lengths, [Int32](repeating: 1, count: starts.count))
        }
    }
}

extension TenonError {
    /// PostgreSQL's own message about a statement, without the values, which may be stored data.
    init(postgres state: String, _ words: String) {
        let code: Code =
            switch state.prefix(2) {
            case "28", "42": .storePermission
            case "40", "55": .storeBusy
            case "53" where state == "53200": .memory
            default: .storeFailed
            }
        let isOfValues = ["21", "22", "23", "44"].contains(state.prefix(2))
        let said = isOfValues ? "" : ": " + TenonError.line(words)
        // The server would refuse the same statement again.
        self.init(
            code, message: "PostgreSQL refuses with \(state)\(said).", retryAfter: isOfValues ? nil : .seconds(1))
    }

    /// libpq's message about a connection that could not be made or was lost.
    init(lostPostgres words: String) {
        // The text behind "FATAL:" comes from the server, which was reached.
        let parts = words.split(separator: "FATAL:", maxSplits: 1)
        let said = TenonError.line(parts.count == 2 ? String(parts[1]) : words)
        let what =
            parts.count == 2 ? "PostgreSQL refuses a connection" : "PostgreSQL cannot be reached, or has gone away"
        self.init(.storeFailed, message: "\(what): \(said). Try again soon.", retryAfter: .seconds(1))
    }

    static func postgresOverdue(_ patience: Duration) -> TenonError {
        TenonError(
            .storeFailed,
            message: "PostgreSQL did not answer in \(patience.milliseconds) ms. Try again soon.",
            retryAfter: .seconds(1))
    }

    static func unknownCommit(_ cause: TenonError) -> TenonError {
        TenonError(
            .outcomeUnknown,
            message: "PostgreSQL did not say whether it stored this. Ask again; it is done only once.",
            retryAfter: .seconds(1))
    }

    /// The first line, without the punctuation at its end.
    private static func line(_ words: String) -> String {
        let text = words.split(whereSeparator: \.isNewline).first ?? "it does not say why"
        let plain = text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f }
        let said = String(String.UnicodeScalarView(plain)).prefix(200).drop { $0 == " " }
        let end = said.lastIndex { !" .:".contains($0) }
        return end.map { String(said[...$0]) } ?? ""
    }
}

/// Cancels statements whose callers have stopped waiting. It has a thread of its own, because libpq waits for the
/// answer and the server may never answer.
final class PostgresCancels: Sendable {
    private struct Cancel: @unchecked Sendable {
        // Handed over by the connection's thread to the cancelling thread.
        let pointer: OpaquePointer
    }

    private let thread: BatchThread<Cancel>

    init() throws(TenonError) {
        thread = try BatchThread { cancels in
            var words = [CChar](repeating: 0, count: 256)
            // The server's own timeout has already ended the older statements.
            for cancel in cancels.suffix(64) { PQcancel(cancel.pointer, &words, Int32(words.count)) }
            for cancel in cancels { PQfreeCancel(cancel.pointer) }
        }
    }

    func add(_ pointer: OpaquePointer) {
        if !thread.add(Cancel(pointer: pointer)) { PQfreeCancel(pointer) }
    }
}
