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

// Positions in a text, for messages to its author.
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

// Each member is the value if it has that type, or nil.
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

    /// The member of an object; nil also for other values.
    package subscript(key: String) -> JSON? { object?[key] }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSON: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    package init(arrayLiteral elements: JSON...) { self = .array(elements) }

    /// If a key occurs twice, the last value is kept.
    package init(dictionaryLiteral elements: (String, JSON)...) {
        var object = JSONObject()
        for (key, value) in elements { object[key] = value }
        self = .object(object)
    }
}

// The reasons why a text is refused (0101 to 0111).
extension TenonError.Code {
    /// The JSON text is longer than the reader was told to take.
    public static let jsonTooLarge = Self(0x0240_0101, "TENON_ERROR_JSON_TOO_LARGE")
    /// The JSON text holds more values than the reader was told to take.
    public static let jsonTooManyValues = Self(0x0240_0102, "TENON_ERROR_JSON_TOO_MANY_VALUES")
    /// Arrays and objects are nested more than 8 deep.
    public static let jsonTooDeep = Self(0x0240_0103, "TENON_ERROR_JSON_TOO_DEEP")
    /// The JSON text begins with a byte order mark.
    public static let jsonByteOrderMark = Self(0x0240_0104, "TENON_ERROR_JSON_BYTE_ORDER_MARK")
    /// A byte stands where JSON has no place for it.
    public static let jsonSyntax = Self(0x0240_0105, "TENON_ERROR_JSON_SYNTAX")
    /// The JSON text ends within a value.
    public static let jsonTruncated = Self(0x0240_0106, "TENON_ERROR_JSON_TRUNCATED")
    /// There are bytes after the value.
    public static let jsonTrailingBytes = Self(0x0240_0107, "TENON_ERROR_JSON_TRAILING_BYTES")
    /// A comma stands before the end of an array or object.
    public static let jsonTrailingComma = Self(0x0240_0108, "TENON_ERROR_JSON_TRAILING_COMMA")
    /// An object has the same key twice.
    public static let jsonDuplicateKey = Self(0x0240_0109, "TENON_ERROR_JSON_DUPLICATE_KEY")
    /// A string is not UTF-8: an overlong form, a surrogate, beyond U+10FFFF, or cut short.
    public static let jsonUTF8 = Self(0x0240_010a, "TENON_ERROR_JSON_UTF8")
    /// A string holds a control character that is not escaped.
    public static let jsonControlCharacter = Self(0x0240_010b, "TENON_ERROR_JSON_CONTROL_CHARACTER")
    /// A backslash is not followed by an escape of JSON.
    public static let jsonEscape = Self(0x0240_010c, "TENON_ERROR_JSON_ESCAPE")
    /// An escape names one half of a surrogate pair.
    public static let jsonLoneSurrogate = Self(0x0240_010d, "TENON_ERROR_JSON_LONE_SURROGATE")
    /// A number has no digit where it needs one.
    public static let jsonNumberForm = Self(0x0240_010e, "TENON_ERROR_JSON_NUMBER_FORM")
    /// A number begins with a zero that it does not need.
    public static let jsonLeadingZero = Self(0x0240_010f, "TENON_ERROR_JSON_LEADING_ZERO")
    /// NaN or an infinity.
    public static let jsonNotFinite = Self(0x0240_0110, "TENON_ERROR_JSON_NOT_FINITE")
    /// An integer beyond 64 bits, or a fraction that no Double comes near.
    public static let jsonNumberRange = Self(0x0240_0111, "TENON_ERROR_JSON_NUMBER_RANGE")
}
