// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// One HTTP request as it came in, its framing checked and its body whole: what the sockets give the engine.
package struct AuthorityRequest: Sendable {
    /// The listener that it came in by: what may be asked there is what is answered there (decision: listeners).
    package enum Door: Sendable {
        case `public`
        case `internal`
        case admin
        /// Where metrics are read, and nothing else is.
        case metrics
    }

    package var method: String
    /// As it stands on the request line: a path, and maybe a query.
    package var target: String
    /// In the order in which they came; a name may come twice.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// The client's address, as trusted proxies give it; "" on a unix socket.
    package var peer: String

    package init(
        method: String, target: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        peer: String = ""
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.peer = peer
    }

    /// The target before its query.
    package var path: String { String(target[..<(queryMark ?? target.endIndex)]) }

    /// The query without its question mark; nil without one.
    package var query: String? { queryMark.map { String(target[target.index(after: $0)...]) } }

    private var queryMark: String.Index? { target.utf8.firstIndex(of: UInt8(ascii: "?")) }

    /// The value of a header, whose name has no case.
    ///
    /// - Throws: ``Refusal/Code/invalidRequest`` when it is there twice: one of the two is not what somebody checked.
    package func header(_ name: String) throws(Refusal) -> String? {
        var found: String?
        for header in headers where header.name.isSame(as: name) {
            guard found == nil else { throw Refusal(.invalidRequest, "A header occurs twice in the request.") }
            found = header.value
        }
        return found
    }
}

extension AuthorityRequest {
    /// The JSON object that the body is.
    package func message() throws(Refusal) -> MessageObject {
        try refusing(Refusal.init(form:)) { () throws(TenonError) in
            try MessageObject(parsing: body, maxBytes: body.count)
        }
    }

    /// A text of a query or of a form, with `%3A` and the like as what they stand for.
    package static func unescaped(_ text: some StringProtocol) throws(Refusal) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self).lowercased()
            guard let decoded = try? TextEncoding.hex.decode(digits), decoded.count == 1 else {
                throw Refusal(.invalidRequest, "Invalid percent-encoding in the query.")
            }
            bytes += decoded
            rest = rest.dropFirst(2)
        }
        // For PostgreSQL a text ends there.
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            throw Refusal(.invalidRequest, "The query must be UTF-8 without NUL.")
        }
        return text
    }
}

extension String {
    /// But for the case of ASCII letters.
    fileprivate func isSame(as other: String) -> Bool {
        let (left, right) = (utf8.span, other.utf8.span)
        guard left.count == right.count else { return false }
        func lower(_ byte: UInt8) -> UInt8 { 0x41...0x5a ~= byte ? byte | 0x20 : byte }
        for index in left.indices where lower(left[index]) != lower(right[index]) { return false }
        return true
    }
}

/// What is answered; what frames the body, and the date, are the sockets'.
package struct AuthorityAnswer: Sendable {
    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]

    package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A body of JSON with the members that are not nil; nobody keeps it: it is about one device, now.
    package init(_ members: KeyValuePairs<String, JSON?>) throws(Refusal) {
        var object = JSONObject()
        for (name, value) in members { object[name] = value }
        try self.init(object)
    }

    init(_ object: JSONObject) throws(Refusal) {
        self.init(encoded: try refusing { () throws(TenonError) in try JSON.object(object).encoded() })
    }

    /// The same of a body that is encoded.
    package init(encoded body: [UInt8], status: Int = 200) {
        self.init(
            status: status, headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")], body: body)
    }

    /// The engine's own form of a refusal: the code, a sentence, and the time.
    package init(_ refusal: Refusal, at now: AuthorityInstant) {
        let json: JSON = [
            "error_code": .string(refusal.code.rawValue), "message": .string(refusal.message),
            "server_timestamp": .integer(now.seconds),
        ]
        self.init(encoded: (try? json.encoded()) ?? [], status: refusal.status)
        headers.append(("x-server-timestamp", String(now.seconds)))
        if let seconds = refusal.retryAfter { headers.append(("Retry-After", String(seconds))) }
    }
}
