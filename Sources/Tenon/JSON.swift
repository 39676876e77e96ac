// SPDX-License-Identifier: Apache-2.0

/// A JSON value (RFC 8259), as the one strict reader takes it and the one writer gives it.
///
/// What ``encoded()`` gives, ``init(parsing:maxBytes:maxValues:)`` takes (within its caps) and gives an equal value of.
package enum JSON: Equatable, Sendable {
    case null
    case bool(Bool)
    /// A number without fraction and exponent.
    case integer(Int64)
    /// A number with fraction or exponent, as the Double nearest to it.
    case number(Double)
    case string(String)
    case array([JSON])
    case object(JSONObject)

    /// Arrays and objects within each other, the outermost included.
    static let maxDepth = 8

    /// Reads one value and nothing else.
    ///
    /// Refused, each with its own code and the offset of the byte in the message (never what was read): a text over
    /// `maxBytes`, before anything is read, or of more than `maxValues` values; nesting over 8; the same key twice in
    /// an object; anything behind the value; a byte order mark; strings that are not UTF-8 or hold a control character
    /// or half a surrogate pair; whatever RFC 8259 does not allow; numbers that do not fit.
    package init(parsing bytes: [UInt8], maxBytes: Int = 65_536, maxValues: Int = 4_096) throws(TenonError) {
        guard bytes.count <= maxBytes else {
            throw TenonError(.jsonTooLarge, message: "The JSON text is longer than \(maxBytes) bytes.")
        }
        var reader = JSONReader(bytes, maxValues: maxValues)
        self = try reader.readDocument()
    }

    /// The value in its one form: no white space, keys in the order of their UTF-8 bytes, shortest escapes.
    ///
    /// - Throws: ``TenonError/Code/jsonTooDeep`` and ``TenonError/Code/jsonNotFinite`` for what no reader would take.
    package func encoded() throws(TenonError) -> [UInt8] {
        var writer = JSONWriter()
        try writer.write(self, depth: 0)
        return writer.bytes
    }

    /// Two strings are equal when their bytes are: Swift's own comparison takes U+00E9 for U+0065 U+0301.
    package static func == (left: JSON, right: JSON) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }
}

// Where things stand in a text, for messages to whoever wrote it.
extension JSON {
    /// From a value to one within it.
    package enum Step: Hashable, Sendable {
        case key(String)
        case index(Int)
    }

    /// The offset of the value at a path of a text that ``init(parsing:maxBytes:maxValues:)`` took, or with `key` that of
    /// the key of the last step. Nil when there is none.
    package static func offset(of path: [Step], key: Bool = false, in bytes: [UInt8]) -> Int? {
        var reader = JSONReader(bytes, maxValues: bytes.count)
        guard let offset = try? reader.locate(path[...], key: key) else { return nil }
        return offset
    }
}

// What a value is, or nil.
extension JSON {
    package var isNull: Bool { self == .null }

    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    package var integer: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// Any number.
    package var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    package var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    package var array: [JSON]? {
        if case .array(let value) = self { value } else { nil }
    }

    package var object: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }

    /// The member of an object; nil also for what is no object.
    package subscript(key: String) -> JSON? { object?[key] }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSON: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    package init(arrayLiteral elements: JSON...) { self = .array(elements) }

    /// Of a key that stands twice the last value is kept.
    package init(dictionaryLiteral elements: (String, JSON)...) {
        var object = JSONObject()
        for (key, value) in elements { object[key] = value }
        self = .object(object)
    }
}
