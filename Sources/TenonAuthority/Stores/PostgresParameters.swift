// SPDX-License-Identifier: Apache-2.0

/// The values of a statement, in PostgreSQL's binary forms.
struct PostgresParameters {
    private var bytes: [CChar] = []
    /// Where each begins; nil is NULL.
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
