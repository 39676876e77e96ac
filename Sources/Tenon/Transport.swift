// SPDX-License-Identifier: Apache-2.0

/// The way to a service: one HTTP request there, one answer back. A device with an HTTP client of its own gives its own.
public protocol Transport: Sendable {
    /// Sends a request once and gives its answer, whatever status that has; a redirect is an answer.
    ///
    /// It is never sent a second time, and no thread of Swift's cooperative pool waits. Cancelling the task ends the
    /// exchange soon.
    ///
    /// - Parameter deadline: when the answer has to be there.
    /// - Throws: an error of the category ``TenonError/Category/unknown`` if a byte of the request may have left, and
    ///   of any other category if certainly none has.
    func exchange(
        _ request: HTTPRequest, deadline: ContinuousClock.Instant
    ) async throws(TenonError) -> HTTPResponse
}

/// What is sent.
public struct HTTPRequest: Sendable {
    /// GET, POST, PUT, PATCH or DELETE.
    public var method: String
    /// The URL in ASCII, sent as it is.
    public var url: String
    /// In the order in which they are sent. What frames the body is the transport's.
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]

    public init(
        method: String, url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = []
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// What came back, whole.
public struct HTTPResponse: Sendable {
    /// 200 to 599.
    public var status: Int
    /// In the order in which they came; a name may come twice.
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]
    /// Just before the first byte of the request left.
    public var sent: Moment
    /// When the last byte of the answer was here.
    public var received: Moment

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
    /// CLOCK_BOOTTIME: it is never set, and goes on while the machine sleeps.
    public var continuous: ContinuousClock.Instant
    /// CLOCK_REALTIME: the time since 1970, as far as the machine knows.
    public var sinceEpoch: Duration

    public init(continuous: ContinuousClock.Instant, sinceEpoch: Duration) {
        self.continuous = continuous
        self.sinceEpoch = sinceEpoch
    }
}
