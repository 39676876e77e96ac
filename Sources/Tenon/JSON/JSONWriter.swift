// SPDX-License-Identifier: Apache-2.0

/// Writes a value in its one form.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []

    mutating func write(_ value: JSON, depth: Int) throws(TenonError) {
        switch value {
        case .null: put("null")
        case .bool(let value): put(value ? "true" : "false")
        case .integer(let value): put(String(value))
        case .number(let value):
            guard value.isFinite else {
                throw TenonError(.jsonNotFinite, message: "JSON has no NaN and no infinity.")
            }
            // The shortest text that reads back as this Double.
            put(value.description)
        case .string(let value): write(value)
        case .array(let elements): try write(elements, depth: depth + 1)
        case .object(let object): try write(object, depth: depth + 1)
        }
    }

    private mutating func write(_ elements: [JSON], depth: Int) throws(TenonError) {
        try check(depth)
        bytes.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index != 0 { bytes.append(UInt8(ascii: ",")) }
            try write(element, depth: depth)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private mutating func write(_ object: JSONObject, depth: Int) throws(TenonError) {
        try check(depth)
        bytes.append(UInt8(ascii: "{"))
        for (index, member) in object.members.enumerated() {
            if index != 0 { bytes.append(UInt8(ascii: ",")) }
            write(member.key)
            bytes.append(UInt8(ascii: ":"))
            try write(member.value, depth: depth)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private func check(_ depth: Int) throws(TenonError) {
        guard depth <= JSON.maxDepth else {
            throw TenonError(.jsonTooDeep, message: "JSON is written at most \(JSON.maxDepth) levels deep.")
        }
    }

    /// RFC 8259, 7: only what must be escaped is.
    private mutating func write(_ string: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""): put("\\\"")
            case UInt8(ascii: "\\"): put("\\\\")
            case 0x08: put("\\b")
            case 0x09: put("\\t")
            case 0x0a: put("\\n")
            case 0x0c: put("\\f")
            case 0x0d: put("\\r")
            case 0..<0x10: put("\\u000" + String(byte, radix: 16))
            case 0x10..<0x20: put("\\u00" + String(byte, radix: 16))
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func put(_ text: String) { bytes.append(contentsOf: text.utf8) }
}
