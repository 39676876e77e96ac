// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// An HTTP request that the sockets pass to the engine, with its framing checked and its body complete.
package struct AuthorityRequest: Sendable {
    /// The listener at which it arrived, which decides the routes that it may ask for (decision: listeners).
    package enum Door: Sendable {
        case `public`
        case `internal`
        case admin
        /// The listener for metrics, and nothing else.
        case metrics
    }

    package var method: String
    /// The target on the request line: a path, and perhaps a query.
    package var target: String
    /// The headers in their order; a name may occur twice.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// The client's address, as trusted proxies report it; "" on a unix socket.
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

    /// The query without its question mark; nil for a target without a query.
    package var query: String? { queryMark.map { String(target[target.index(after: $0)...]) } }

    private var queryMark: String.Index? { target.utf8.firstIndex(of: UInt8(ascii: "?")) }

    /// The value of a header. The case of its name does not matter.
    ///
    /// - Throws: ``Refusal/Code/invalidRequest`` when it occurs twice: somebody in between may have checked the other
    ///   one.
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
    /// The body as a JSON object.
    package func message() throws(Refusal) -> MessageObject {
        try refusing(Refusal.init(form:)) { () throws(TenonError) in
            try MessageObject(parsing: body, maxBytes: body.count)
        }
    }

    /// Decodes a text of a query or of a form, with `%3A` and the like.
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
        // PostgreSQL would end the text at a NUL.
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            throw Refusal(.invalidRequest, "The query must be UTF-8 without NUL.")
        }
        return text
    }
}

extension String {
    /// Whether the texts are equal, ignoring the case of ASCII letters.
    fileprivate func isSame(as other: String) -> Bool {
        let (left, right) = (utf8.span, other.utf8.span)
        guard left.count == right.count else { return false }
        func lower(_ byte: UInt8) -> UInt8 { 0x41...0x5a ~= byte ? byte | 0x20 : byte }
        for index in left.indices where lower(left[index]) != lower(right[index]) { return false }
        return true
    }
}

/// An HTTP answer. The sockets add the framing of the body and the date.
package struct AuthorityAnswer: Sendable {
    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]

    package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A JSON body with the members that are not nil. It must not be cached: it is about one device at this moment.
    package init(_ members: KeyValuePairs<String, JSON?>) throws(Refusal) {
        var object = JSONObject()
        for (name, value) in members { object[name] = value }
        try self.init(object)
    }

    init(_ object: JSONObject) throws(Refusal) {
        self.init(encoded: try refusing { () throws(TenonError) in try JSON.object(object).encoded() })
    }

    /// The same for an encoded body.
    package init(encoded body: [UInt8], status: Int = 200) {
        self.init(
            status: status, headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")], body: body)
    }

    /// The engine's own form of a refusal: the code, a sentence, and the time.
    package init(_ refusal: Refusal, at now: AuthorityInstant) {
        var object = JSONObject()
        object["error_code"] = .string(refusal.code.rawValue)
        object["message"] = .string(refusal.message)
        object["server_timestamp"] = .integer(now.seconds)
        object["forms"] = refusal.forms.map { .array($0.map(JSON.string)) }
        self.init(encoded: (try? JSON.object(object).encoded()) ?? [], status: refusal.status)
        headers.append(("x-server-timestamp", String(now.seconds)))
        if let seconds = refusal.retryAfter { headers.append(("Retry-After", String(seconds))) }
    }
}
