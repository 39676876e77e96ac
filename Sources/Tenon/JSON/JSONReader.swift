// SPDX-License-Identifier: Apache-2.0

/// Reads one value, strictly. It never looks behind the end: there the next byte is nil.
struct JSONReader {
    private let bytes: [UInt8]
    private var offset = 0
    private var depth = 0
    private var valuesLeft: Int

    init(_ bytes: [UInt8], maxValues: Int) {
        self.bytes = bytes
        valuesLeft = maxValues
    }

    mutating func readDocument() throws(TenonError) -> JSON {
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) {
            throw refusal(.jsonByteOrderMark, "begins with a byte order mark")
        }
        skipSpace()
        let value = try readValue()
        skipSpace()
        guard next == nil else { throw refusal(.jsonTrailingBytes, "continues after its value") }
        return value
    }

    private mutating func readValue() throws(TenonError) -> JSON {
        guard valuesLeft > 0 else { throw refusal(.jsonTooManyValues, "holds too many values") }
        valuesLeft -= 1
        switch next {
        case UInt8(ascii: "{"): return try readObject()
        case UInt8(ascii: "["): return try readArray()
        case UInt8(ascii: "\""): return .string(try readString())
        case UInt8(ascii: "t"): return try readWord("true", .bool(true))
        case UInt8(ascii: "f"): return try readWord("false", .bool(false))
        case UInt8(ascii: "n"): return try readWord("null", .null)
        case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): return try readNumber()
        case UInt8(ascii: "N"), UInt8(ascii: "I"): throw refusal(.jsonNotFinite, "holds NaN or an infinity")
        case UInt8(ascii: "+"), UInt8(ascii: "."): throw refusal(.jsonNumberForm, "holds a malformed number")
        default: throw misplaced
        }
    }

    private mutating func readWord(_ word: StaticString, _ value: JSON) throws(TenonError) -> JSON {
        for index in 0..<word.utf8CodeUnitCount {
            guard next == word.utf8Start[index] else { throw misplaced }
            offset += 1
        }
        return value
    }

    private mutating func readArray() throws(TenonError) -> JSON {
        try open()
        var elements: [JSON] = []
        while try !close(UInt8(ascii: "]"), isFirst: elements.isEmpty) {
            elements.append(try readValue())
        }
        return .array(elements)
    }

    private mutating func readObject() throws(TenonError) -> JSON {
        try open()
        var members: [JSONObject.Member] = []
        var offsets: [Int] = []
        while try !close(UInt8(ascii: "}"), isFirst: members.isEmpty) {
            offsets.append(offset)
            guard next == UInt8(ascii: "\"") else { throw misplaced }
            let key = try readString()
            skipSpace()
            guard next == UInt8(ascii: ":") else { throw misplaced }
            offset += 1
            skipSpace()
            members.append(JSONObject.Member(key: key, value: try readValue()))
        }
        switch JSONObject.make(members) {
        case .success(let object): return .object(object)
        case .failure(let duplicate):
            offset = offsets[duplicate.index]
            throw refusal(.jsonDuplicateKey, "has a key twice in one object")
        }
    }

    /// Where the value of a path begins, in a text that was read; or where the key of its last step does. Nil when there
    /// is none.
    mutating func locate(_ path: ArraySlice<JSON.Step>, key wantsKey: Bool) throws(TenonError) -> Int? {
        skipSpace()
        return switch path.first {
        case nil: offset
        case .index(let index): try locate(path.dropFirst(), key: wantsKey, inElement: index)
        case .key(let key): try locate(path.dropFirst(), key: wantsKey, inMember: key)
        }
    }

    private mutating func locate(
        _ path: ArraySlice<JSON.Step>, key wantsKey: Bool, inElement wanted: Int
    ) throws(TenonError) -> Int? {
        guard next == UInt8(ascii: "[") else { return nil }
        try open()
        var index = 0
        while try !close(UInt8(ascii: "]"), isFirst: index == 0) {
            if index == wanted { return try locate(path, key: wantsKey) }
            _ = try readValue()
            index += 1
        }
        return nil
    }

    private mutating func locate(
        _ path: ArraySlice<JSON.Step>, key wantsKey: Bool, inMember wanted: String
    ) throws(TenonError) -> Int? {
        guard next == UInt8(ascii: "{") else { return nil }
        try open()
        var isFirst = true
        while try !close(UInt8(ascii: "}"), isFirst: isFirst) {
            let keyOffset = offset
            let isWanted = try readString().utf8.elementsEqual(wanted.utf8)
            skipSpace()
            offset += 1
            if isWanted { return wantsKey && path.isEmpty ? keyOffset : try locate(path, key: wantsKey) }
            skipSpace()
            _ = try readValue()
            isFirst = false
        }
        return nil
    }

    private mutating func open() throws(TenonError) {
        guard depth < JSON.maxDepth else {
            throw refusal(.jsonTooDeep, "is nested more than \(JSON.maxDepth) levels deep")
        }
        depth += 1
        offset += 1
    }

    /// True at the end of an array or object; else steps over the comma, which only the first item has not.
    private mutating func close(_ end: UInt8, isFirst: Bool) throws(TenonError) -> Bool {
        skipSpace()
        if next == end {
            offset += 1
            depth -= 1
            return true
        }
        guard !isFirst else { return false }
        guard next == UInt8(ascii: ",") else { throw misplaced }
        let comma = offset
        offset += 1
        skipSpace()
        guard next != end else {
            offset = comma
            throw refusal(.jsonTrailingComma, "has a comma before the end of an array or object")
        }
        return false
    }

    private mutating func readString() throws(TenonError) -> String {
        var scanner = JSONStringReader(bytes, at: offset + 1)
        let string = try scanner.read()
        offset = scanner.offset
        return string
    }

    private mutating func readNumber() throws(TenonError) -> JSON {
        var scanner = JSONNumberReader(bytes, at: offset)
        let number = try scanner.read()
        offset = scanner.offset
        return number
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d { offset += 1 }
    }

    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private var misplaced: TenonError {
        next == nil
            ? refusal(.jsonTruncated, "ends within its value")
            : refusal(.jsonSyntax, "has an unexpected byte")
    }

    private func refusal(_ code: TenonError.Code, _ what: String) -> TenonError {
        TenonError(code, jsonText: what, at: offset)
    }
}

extension TenonError {
    /// Says where a JSON text is refused, and never what the text is there.
    init(_ code: Code, jsonText what: String, at offset: Int) {
        self.init(code, message: "The JSON text \(what), at byte \(offset).")
        byteOffset = offset
    }
}
