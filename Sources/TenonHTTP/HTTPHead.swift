// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// The head of an answer, read strictly (RFC 9112, 4 and 5). libcurl tolerates many mistakes.
struct HTTPHead {
    private static let maxLines = 100

    let status: Int
    let headers: [(name: String, value: String)]

    /// - Throws: ``TenonError/Code/httpMalformed``, ``TenonError/Code/httpTooLarge``.
    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(TenonError) {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
        guard lines.count <= Self.maxLines + 3 else { throw .tooLarge }
        guard let first = lines.popFirst(), let status = Self.status(Self.line(first)) else { throw .malformed }
        self.status = status
        var headers: [(name: String, value: String)] = []
        for line in lines.lazy.map(Self.line) where !line.isEmpty {
            guard let header = Self.header(line) else { throw .malformed }
            headers.append(header)
        }
        self.headers = headers
    }

    /// Whether the head declares a body of this many bytes. Conflicting or repeated declarations are an error
    /// (RFC 9112, 6.3), as they would let somebody choose where the answer ends.
    func frames(_ count: Int) -> Bool {
        let lengths = values("content-length")
        let encodings = values("transfer-encoding")
        if status == 204 || status == 304 { return count == 0 && encodings.isEmpty }
        if encodings.isEmpty { return lengths.isEmpty || lengths == [String(count)] }
        return lengths.isEmpty && encodings.map { $0.lowercased() } == ["chunked"]
    }

    static func isToken(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    private func values(_ name: String) -> [String] { headers.filter { $0.name.lowercased() == name }.map(\.value) }

    private static func line(_ bytes: Bytes) -> Bytes { bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes }

    /// The status of `HTTP/1.x ddd`; the reason is ignored.
    private static func status(_ line: Bytes) -> Int? {
        let words = line.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count >= 2, words[0].elementsEqual("HTTP/1.1".utf8) || words[0].elementsEqual("HTTP/1.0".utf8),
            words[1].count == 3, words[1].allSatisfy({ 0x30...0x39 ~= $0 }), line.allSatisfy(isText)
        else { return nil }
        let status = words[1].reduce(0) { $0 * 10 + Int($1 - 0x30) }
        return 200...599 ~= status ? status : nil
    }

    private static func header(_ line: Bytes) -> (name: String, value: String)? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = line[..<colon]
        var value = line[(colon + 1)...]
        while let first = value.first, isSpace(first) { value = value.dropFirst() }
        while let last = value.last, isSpace(last) { value = value.dropLast() }
        guard !name.isEmpty, name.allSatisfy(isToken), value.allSatisfy(isText) else { return nil }
        return (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func isText(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7f || byte == 0x09 }
}

extension UInt8 {
    /// Whether the byte is a letter or a digit of ASCII.
    var isAlphanumeric: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
