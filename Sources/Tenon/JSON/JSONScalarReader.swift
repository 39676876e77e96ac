// SPDX-License-Identifier: Apache-2.0

/// Reads the rest of a string, from behind its first quotation mark to behind its last.
struct JSONStringReader {
    private let bytes: [UInt8]
    private(set) var offset: Int
    private var text: [UInt8] = []

    init(_ bytes: [UInt8], at offset: Int) {
        self.bytes = bytes
        self.offset = offset
    }

    mutating func read() throws(TenonError) -> String {
        while true {
            switch next {
            case nil: throw truncated
            case UInt8(ascii: "\""):
                offset += 1
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): try readEscape()
            case .some(0..<0x20): throw refusal(.jsonControlCharacter, "has a control character in a string")
            case .some(let byte) where byte < 0x80:
                text.append(byte)
                offset += 1
            case .some:
                let length = try sequenceLength()
                text.append(contentsOf: bytes[offset..<offset + length])
                offset += length
            }
        }
    }

    /// The length of the sequence of two to four bytes that begins here (RFC 3629, 4).
    private func sequenceLength() throws(TenonError) -> Int {
        let (length, second): (Int, ClosedRange<UInt8>) =
            switch bytes[offset] {
            case 0xc2...0xdf: (2, 0x80...0xbf)
            case 0xe0: (3, 0xa0...0xbf)
            case 0xed: (3, 0x80...0x9f)
            case 0xe1...0xef: (3, 0x80...0xbf)
            case 0xf0: (4, 0x90...0xbf)
            case 0xf1...0xf3: (4, 0x80...0xbf)
            case 0xf4: (4, 0x80...0x8f)
            default: throw notUTF8
            }
        for index in offset + 1..<offset + length {
            let range = index == offset + 1 ? second : 0x80...0xbf
            guard index < bytes.count, range.contains(bytes[index]) else { throw notUTF8 }
        }
        return length
    }

    private mutating func readEscape() throws(TenonError) {
        guard offset + 1 < bytes.count else { throw truncated }
        let plain: UInt8
        switch bytes[offset + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): plain = bytes[offset + 1]
        case UInt8(ascii: "b"): plain = 0x08
        case UInt8(ascii: "f"): plain = 0x0c
        case UInt8(ascii: "n"): plain = 0x0a
        case UInt8(ascii: "r"): plain = 0x0d
        case UInt8(ascii: "t"): plain = 0x09
        case UInt8(ascii: "u"): return try readUnicodeEscape()
        default: throw refusal(.jsonEscape, "has an unknown escape in a string")
        }
        text.append(plain)
        offset += 2
    }

    /// RFC 8259, 7: a character beyond U+FFFF is two escapes, a surrogate pair.
    private mutating func readUnicodeEscape() throws(TenonError) {
        let start = offset
        var scalar = try readCodeUnit()
        if 0xd800...0xdbff ~= scalar, next == UInt8(ascii: "\\"), offset + 1 < bytes.count,
            bytes[offset + 1] == UInt8(ascii: "u")
        {
            let low = try readCodeUnit()
            if 0xdc00...0xdfff ~= low { scalar = 0x10000 + (scalar - 0xd800) << 10 + (low - 0xdc00) }
        }
        guard let character = Unicode.Scalar(scalar) else {
            offset = start
            throw refusal(.jsonLoneSurrogate, "has half a surrogate pair in a string")
        }
        text.append(contentsOf: String(character).utf8)
    }

    private mutating func readCodeUnit() throws(TenonError) -> UInt32 {
        var unit: UInt32 = 0
        for index in offset + 2..<offset + 6 {
            guard index < bytes.count else { throw truncated }
            guard let digit = Character(Unicode.Scalar(bytes[index])).hexDigitValue else {
                throw refusal(.jsonEscape, "has an escape without four hexadecimal digits in a string")
            }
            unit = unit << 4 | UInt32(digit)
        }
        offset += 6
        return unit
    }

    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private var truncated: TenonError { TenonError(.jsonTruncated, jsonText: "ends within a string", at: bytes.count) }

    private var notUTF8: TenonError { refusal(.jsonUTF8, "is not UTF-8") }

    private func refusal(_ code: TenonError.Code, _ what: String) -> TenonError {
        TenonError(code, jsonText: what, at: offset)
    }
}

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
