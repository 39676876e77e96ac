// SPDX-License-Identifier: Apache-2.0
internal import CTenonCurl
internal import Tenon

/// Owns a libcurl handle for one exchange at a time. Only one thread may use it, except for ``wake()``.
final class CurlHandle: Sendable {
    private nonisolated(unsafe) let handle: OpaquePointer

    init() throws(TenonError) {
        guard tenoni_exchange_load() != 0 else { throw .noLibrary }
        guard let handle = tenoni_exchange_new() else { throw .noMemory }
        self.handle = handle
    }

    deinit { tenoni_exchange_free(handle) }

    /// Makes ``perform(_:)`` notice that its exchange was cancelled. Any thread may call it.
    func wake() { tenoni_exchange_wake(handle) }

    /// Blocks until there is an answer, or until the exchange is late or cancelled.
    func perform(_ exchange: Exchange) throws(TenonError) -> HTTPResponse {
        begin(exchange)
        let now = ContinuousClock.now
        var limits = tenoni_exchange_limits()
        limits.connected_by = Moment.boot(now + exchange.options.connectTimeout)
        limits.answered_by = Moment.boot(min(exchange.deadline, now + exchange.options.exchangeTimeout))
        limits.is_cancelled = { context in
            context.map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue().isCancelled ? 1 : 0 } ?? 1
        }
        limits.context = Unmanaged.passUnretained(exchange).toOpaque()
        var answer = tenoni_exchange_answer()
        let result = withExtendedLifetime(exchange) {
            exchange.body.withUnsafeBufferPointer {
                tenoni_exchange_perform(handle, &answer, &limits, $0.baseAddress, $0.count)
            }
        }
        guard result == TENONI_EXCHANGE_OK else { throw TenonError(result, isSent: answer.is_sent != 0) }
        return try HTTPResponse(answer)
    }

    private func begin(_ exchange: Exchange) {
        tenoni_exchange_begin(handle, exchange.method, exchange.isPlain ? 1 : 0)
        set(TENONI_EXCHANGE_URL, exchange.url)
        set(TENONI_EXCHANGE_AGENT, "tenon/" + tenonVersion)
        set(TENONI_EXCHANGE_CA_FILE, exchange.options.caFile)
        set(TENONI_EXCHANGE_PINS, exchange.options.pinText)
        set(TENONI_EXCHANGE_UNIX_SOCKET, exchange.options.unixSocket)
        set(TENONI_EXCHANGE_HTTP_PROXY, exchange.proxy)
        for line in exchange.headers { set(TENONI_EXCHANGE_HEADER, line) }
    }

    private func set(_ what: tenoni_exchange_text, _ text: String?) {
        if let text { tenoni_exchange_set(handle, what, text) }
    }
}

extension HTTPResponse {
    fileprivate init(_ answer: tenoni_exchange_answer) throws(TenonError) {
        let head = UnsafeRawBufferPointer(start: answer.head, count: answer.head_n).bindMemory(to: UInt8.self)
        let body = UnsafeBufferPointer(start: answer.body, count: answer.body_n)
        let read = try HTTPHead(head)
        guard read.frames(body.count) else { throw .malformed }
        self.init(
            status: read.status, headers: read.headers, body: Array(body), sent: Moment(answer.sent),
            received: Moment(answer.received))
    }
}

extension Moment {
    private static var boot: ContinuousClock.Instant { ContinuousClock().systemEpoch }

    fileprivate init(_ moment: tenoni_exchange_moment) {
        self.init(
            continuous: Self.boot.advanced(by: .nanoseconds(moment.boot)), sinceEpoch: .nanoseconds(moment.real))
    }

    /// Nanoseconds since the machine started, clamped to 64 bits.
    fileprivate static func boot(_ instant: ContinuousClock.Instant) -> Int64 {
        let (seconds, attoseconds) = boot.duration(to: instant).components
        let limit = Int64.max / 1_000_000_000 - 1
        return min(max(seconds, -limit), limit) * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}

extension TenonError {
    static let late = TenonError(
        .httpConnectTimeout, message: "The time limit was reached before the request was sent. Try again.")
    static let malformed = TenonError(.httpMalformed, message: "The server's answer is not HTTP/1.")
    static let tooLarge = TenonError(
        .httpTooLarge, message: "The server's answer exceeds 64 KiB, or its headers exceed 16 KiB or 100 lines.")
    static let noLibrary = TenonError(
        .httpLibrary, message: "libcurl.so.4 cannot be loaded. Install it (on Debian, the package libcurl4).")
    static let noMemory = TenonError(.memory, message: "There is not enough memory for an HTTP exchange.")

    /// The messages are our own, as libcurl's may contain what was sent.
    init(_ result: tenoni_exchange_result, isSent: Bool) {
        self = isSent ? .sent(result) : .notSent(result)
    }

    private static func sent(_ result: tenoni_exchange_result) -> TenonError {
        switch result {
        case TENONI_EXCHANGE_CANCELLED:
            TenonError(.httpCancelled, message: "The task was cancelled after the request was sent. Ask again later.")
        case TENONI_EXCHANGE_TIMEOUT:
            TenonError(.httpTimeout, message: "The server did not answer in time. Ask again later.")
        case TENONI_EXCHANGE_TOO_LARGE: .tooLarge
        case TENONI_EXCHANGE_MALFORMED: .malformed
        default:
            TenonError(.httpNoAnswer, message: "The connection ended before the answer was complete. Ask again later.")
        }
    }

    private static func notSent(_ result: tenoni_exchange_result) -> TenonError {
        switch result {
        case TENONI_EXCHANGE_CANCELLED: .cancelled
        case TENONI_EXCHANGE_TIMEOUT: .late
        case TENONI_EXCHANGE_MEMORY: .noMemory
        case TENONI_EXCHANGE_RESOLVE:
            TenonError(.httpResolve, message: "The host or proxy has no address. Check its name and the network.")
        case TENONI_EXCHANGE_PROXY:
            TenonError(.httpProxy, message: "The proxy refused to connect to the server. Ask its operator.")
        case TENONI_EXCHANGE_HANDSHAKE:
            TenonError(.tlsHandshake, message: "The server and this client could not agree on TLS 1.2 or 1.3.")
        case TENONI_EXCHANGE_TRUST_FILE:
            TenonError(.tlsTrustFile, message: "The CA file cannot be read or has no certificate. Check its path.")
        case TENONI_EXCHANGE_UNTRUSTED:
            TenonError(.tlsUntrusted, message: "No trusted CA signed the server's certificate.")
        case TENONI_EXCHANGE_DATE:
            TenonError(.tlsDate, message: "A certificate of the server is not valid today. Check this machine's clock.")
        case TENONI_EXCHANGE_HOST:
            TenonError(.tlsHost, message: "The server's certificate is for another host.")
        case TENONI_EXCHANGE_PIN:
            TenonError(.tlsPin, message: "The server's key is not one of the pinned keys.")
        default:
            TenonError(.httpConnect, message: "Nobody answers there. Check host, port and network, or try again.")
        }
    }
}
