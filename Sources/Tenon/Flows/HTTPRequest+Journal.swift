// SPDX-License-Identifier: Apache-2.0

// How a journal holds a request: `METHOD URL`, the headers, an empty line, the body; LF ends each line.
extension HTTPRequest {
    private static let newline = UInt8(ascii: "\n")

    /// - Throws: ``TenonError/Code/httpHeader`` for what could not be read again as what it is.
    package func journalled() throws(TenonError) -> [UInt8] {
        let lines = ["\(method) \(url)"] + headers.map { "\($0.name): \($0.value)" }
        guard lines.allSatisfy({ !$0.utf8.contains(Self.newline) }), !method.contains(" "),
            headers.allSatisfy({ !$0.name.contains(":") })
        else { throw Self.malformed }
        return Array((lines.joined(separator: "\n") + "\n\n").utf8) + body
    }

    package init(journalled bytes: [UInt8]) throws(TenonError) {
        var lines: [String] = []
        var rest = bytes[...]
        while true {
            guard let end = rest.firstIndex(of: Self.newline) else { throw Self.malformed }
            let line = String(decoding: rest[..<end], as: UTF8.self)
            rest = rest[(end + 1)...]
            if line.isEmpty { break }
            lines.append(line)
        }
        guard let first = lines.first, let space = first.firstIndex(of: " ") else { throw Self.malformed }
        self.init(method: String(first[..<space]), url: String(first[first.index(after: space)...]))
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { throw Self.malformed }
            headers.append((String(line[..<colon]), String(line[colon...].dropFirst(2))))
        }
        body = Array(rest)
    }

    private static let malformed = TenonError(
        .httpHeader, message: "The request of the journal is none that can be sent.")
}
