// SPDX-License-Identifier: Apache-2.0

/// One HTTP request as it came in, its framing checked and its body whole: what the sockets give the service.
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
    /// The address of whoever asks, behind the proxies that are trusted; "" on a unix socket.
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
    var path: String { String(target[..<(queryMark ?? target.endIndex)]) }

    /// The query without its question mark; nil without one.
    var query: String? { queryMark.map { String(target[target.index(after: $0)...]) } }

    private var queryMark: String.Index? { target.utf8.firstIndex(of: UInt8(ascii: "?")) }

    /// The value of a header, whose name has no case.
    ///
    /// - Throws: ``Refusal/Code/invalidRequest`` when it is there twice: one of the two is not what somebody checked.
    func header(_ name: String) throws(Refusal) -> String? {
        var found: String?
        for header in headers where header.name.isSame(as: name) {
            guard found == nil else { throw Refusal(.invalidRequest, "A header stands twice in the request.") }
            found = header.value
        }
        return found
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
