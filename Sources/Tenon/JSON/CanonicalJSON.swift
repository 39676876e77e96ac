// SPDX-License-Identifier: Apache-2.0

extension JSON {
    /// The value in the canonical form of RFC 8785, which other programs compute and sign, too: keys in the order of
    /// their UTF-16 code units, and numbers as ECMAScript writes them.
    ///
    /// - Throws: ``TenonError/Code/jsonNumberRange`` for an integer that a Double cannot hold exactly, since other
    ///   programs would sign another number; ``TenonError/Code/jsonTooDeep``, ``TenonError/Code/jsonNotFinite``.
    package func canonical() throws(TenonError) -> [UInt8] {
        var bytes: [UInt8] = []
        try appendCanonical(to: &bytes)
        return bytes
    }

    private func appendCanonical(to bytes: inout [UInt8]) throws(TenonError) {
        switch self {
        case .null, .bool, .string: bytes += try encoded()
        case .integer(let value):
            guard -JSON.maxExact...JSON.maxExact ~= value else { throw .inexact }
            bytes += Array(String(value).utf8)
        case .number(let value):
            guard value.isFinite else { throw TenonError(.jsonNotFinite, message: "JSON has no NaN and no infinity.") }
            bytes += Array(ECMAScriptNumber.text(of: value).utf8)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index != 0 { bytes.append(UInt8(ascii: ",")) }
                try element.appendCanonical(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let object):
            let members = object.members.sorted { $0.key.utf16.lexicographicallyPrecedes($1.key.utf16) }
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index != 0 { bytes.append(UInt8(ascii: ",")) }
                bytes += try JSON.string(member.key).encoded()
                bytes.append(UInt8(ascii: ":"))
                try member.value.appendCanonical(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// The largest integer up to which a Double holds every one: 2^53 - 1.
    private static let maxExact: Int64 = 9_007_199_254_740_991
}

/// Numbers as ECMAScript writes them (ECMA-262, Number::toString).
private enum ECMAScriptNumber {
    static func text(of value: Double) -> String {
        guard value != 0 else { return "0" }
        let (digits, point) = parts(of: value.magnitude)
        return (value < 0 ? "-" : "") + text(digits, point)
    }

    /// The shortest digits that read back as this value, and where the decimal point stands after their beginning.
    /// Swift writes the same digits, and places its point elsewhere.
    private static func parts(of value: Double) -> (digits: String, point: Int) {
        let halves = value.description.split(separator: "e")
        let mantissa = halves[0].split(separator: ".", omittingEmptySubsequences: false)
        let (whole, fraction) = (mantissa[0], mantissa.count > 1 ? mantissa[1] : "")
        let all = whole + fraction
        let leading = all.prefix { $0 == "0" }.count
        var digits = String(all.dropFirst(leading))
        while digits.hasSuffix("0") { digits.removeLast() }
        let exponent = halves.count > 1 ? Int(halves[1]) ?? 0 : 0
        return (digits, whole.count - leading + exponent)
    }

    private static func text(_ digits: String, _ point: Int) -> String {
        let count = digits.count
        switch point {
        case count...21 where count <= 21: return digits + String(repeating: "0", count: point - count)
        case 1...21: return digits.prefix(point) + "." + digits.dropFirst(point)
        case -5...0: return "0." + String(repeating: "0", count: -point) + digits
        default:
            let sign = point > 0 ? "+" : "-"
            let mantissa = count == 1 ? digits : digits.prefix(1) + "." + digits.dropFirst()
            return mantissa + "e" + sign + String(abs(point - 1))
        }
    }
}

extension TenonError {
    fileprivate static let inexact = TenonError(
        .jsonNumberRange, message: "An integer beyond 2^53 - 1 has no canonical form that all programs agree on.")
}
