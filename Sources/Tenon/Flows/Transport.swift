// SPDX-License-Identifier: Apache-2.0

/// The way to a service: one HTTP request there, one answer back. A device with an HTTP client of its own gives its own.
public protocol Transport: Sendable {
    /// Sends a request once and gives its answer, whatever status that has; a redirect is an answer.
    ///
    /// It is never sent a second time, and no thread of Swift's cooperative pool waits. Cancelling the task ends the
    /// exchange soon.
    ///
    /// - Parameter deadline: when the answer must have arrived.
    /// - Throws: an error of the category ``TenonError/Category/unknown`` if a byte of the request may have left, and
    ///   of any other category if certainly none has.
    func exchange(
        _ request: HTTPRequest, deadline: ContinuousClock.Instant
    ) async throws(TenonError) -> HTTPResponse
}

/// An HTTP request.
public struct HTTPRequest: Sendable {
    /// GET, POST, PUT, PATCH or DELETE.
    public var method: String
    /// The URL in ASCII, sent as it is.
    public var url: String
    /// In the order in which they are sent. What frames the body is the transport's.
    public var headers: [(name: String, value: String)]
    /// The bytes of the body, perhaps none.
    public var body: [UInt8]

    /// Makes a request.
    public init(
        method: String, url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = []
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// A complete HTTP response.
public struct HTTPResponse: Sendable {
    /// 200 to 599.
    public var status: Int
    /// In the order in which they came; a name may come twice.
    public var headers: [(name: String, value: String)]
    /// The bytes of the body, perhaps none.
    public var body: [UInt8]
    /// Just before the first byte of the request left.
    public var sent: Moment
    /// When the last byte of the answer arrived.
    public var received: Moment

    /// Makes an answer.
    public init(
        status: Int, headers: [(name: String, value: String)], body: [UInt8], sent: Moment, received: Moment
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.sent = sent
        self.received = received
    }

    /// The values of a header, whose name has no case.
    public func values(of name: String) -> [String] {
        let name = name.lowercased()
        return headers.filter { $0.name.lowercased() == name }.map(\.value)
    }
}

/// One moment on two clocks: how they part shows that somebody set the wall clock.
public struct Moment: Hashable, Sendable {
    /// CLOCK_BOOTTIME: nobody can set it, and it continues while the machine sleeps.
    public var continuous: ContinuousClock.Instant
    /// CLOCK_REALTIME: the time since 1970, as far as the machine knows.
    public var sinceEpoch: Duration

    /// Takes the two clocks as they were read together.
    public init(continuous: ContinuousClock.Instant, sinceEpoch: Duration) {
        self.continuous = continuous
        self.sinceEpoch = sinceEpoch
    }
}

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
        .httpHeader, message: "The request in the journal cannot be sent.")
}

// The codes of a transport that flows act on (0140 to 015f, with those of TenonHTTP). An error of any category but
// `unknown` says that certainly nothing was sent.
extension TenonError.Code {
    /// The URL is not one to which a request may be sent.
    public static let httpURL = Self(0x0140_0141, "TENON_ERROR_HTTP_URL")
    /// A header has a byte that may not be in one, or is the transport's own.
    public static let httpHeader = Self(0x0140_0143, "TENON_ERROR_HTTP_HEADER")
    /// Nobody answers there: refused, unreachable, or cut.
    public static let httpConnect = Self(0x0440_014a, "TENON_ERROR_HTTP_CONNECT")
    /// Sent, and the connection ended before the answer did.
    public static let httpNoAnswer = Self(0x0b40_014f, "TENON_ERROR_HTTP_NO_ANSWER")
}
