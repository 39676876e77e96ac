// SPDX-License-Identifier: Apache-2.0

/// Reads a number (RFC 8259, 6).
struct JSONNumberReader {
    /// Longer ones are refused: no Double or Int64 needs them.
    private static let maxLength = 64

    private let bytes: [UInt8]
    private let start: Int
    private(set) var offset: Int
    private var isInteger = true
    private var isZero = true

    init(_ bytes: [UInt8], at offset: Int) {
        self.bytes = bytes
        self.offset = offset
        start = offset
    }

    mutating func read() throws(TenonError) -> JSON {
        skip(UInt8(ascii: "-"))
        if next == UInt8(ascii: "I") { throw refusal(.jsonNotFinite, "holds NaN or an infinity") }
        let first = offset
        try readDigits()
        if bytes[first] == UInt8(ascii: "0"), offset > first + 1 {
            offset = first
            throw refusal(.jsonLeadingZero, "has a number with a leading zero")
        }
        if skip(UInt8(ascii: ".")) {
            isInteger = false
            try readDigits()
        }
        let mantissaIsZero = isZero
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            isInteger = false
            if !skip(UInt8(ascii: "+")) { skip(UInt8(ascii: "-")) }
            try readDigits()
        }
        isZero = mantissaIsZero
        return try value()
    }

    private func value() throws(TenonError) -> JSON {
        guard offset - start <= JSONNumberReader.maxLength else { throw outOfRange }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        if isInteger {
            guard let value = Int64(text) else { throw outOfRange }
            return .integer(value)
        }
        // Neither infinity nor a zero that the text does not say.
        guard let value = Double(text), value.isFinite, value != 0 || isZero else { throw outOfRange }
        return .number(value)
    }

    private mutating func readDigits() throws(TenonError) {
        let first = offset
        while let byte = next, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte {
            if byte != UInt8(ascii: "0") { isZero = false }
            offset += 1
        }
        guard offset > first else {
            throw next == nil
                ? refusal(.jsonTruncated, "ends within a number") : refusal(.jsonNumberForm, "has a malformed number")
        }
    }

    @discardableResult
    private mutating func skip(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        offset += 1
        return true
    }

    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private var outOfRange: TenonError {
        TenonError(.jsonNumberRange, jsonText: "has a number that does not fit", at: start)
    }

    private func refusal(_ code: TenonError.Code, _ what: String) -> TenonError {
        TenonError(code, jsonText: what, at: offset)
    }
}
