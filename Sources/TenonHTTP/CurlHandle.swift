// SPDX-License-Identifier: Apache-2.0
internal import CTenonCurl
internal import Tenon

/// Owns what libcurl needs for one exchange at a time: a thread's own, but for ``wake()``.
final class CurlHandle: Sendable {
    private nonisolated(unsafe) let exchange: OpaquePointer

    init() throws(TenonError) {
        guard tenoni_exchange_load() != 0 else { throw .noLibrary }
        guard let exchange = tenoni_exchange_new() else { throw .noMemory }
        self.exchange = exchange
    }

    deinit { tenoni_exchange_free(exchange) }

    /// Lets ``perform(_:)`` see that its call was cancelled. Any thread may call it.
    func wake() { tenoni_exchange_wake(exchange) }

    /// Blocks until there is an answer, or until the call is late or cancelled.
    func perform(_ call: Call) throws(TenonError) -> HTTPResponse {
        begin(call)
        let now = ContinuousClock.now
        var limits = tenoni_exchange_limits()
        limits.connected_by = Moment.boot(now + call.options.connectTimeout)
        limits.answered_by = Moment.boot(min(call.deadline, now + call.options.exchangeTimeout))
        limits.is_cancelled = { context in
            context.map { Unmanaged<Call>.fromOpaque($0).takeUnretainedValue().isCancelled ? 1 : 0 } ?? 1
        }
        limits.context = Unmanaged.passUnretained(call).toOpaque()
        var answer = tenoni_exchange_answer()
        let result = withExtendedLifetime(call) {
            call.body.withUnsafeBufferPointer {
                tenoni_exchange_perform(exchange, &answer, &limits, $0.baseAddress, $0.count)
            }
        }
        guard result == TENONI_EXCHANGE_OK else { throw TenonError(result, isSent: answer.is_sent != 0) }
        return try HTTPResponse(answer)
    }

    private func begin(_ call: Call) {
        tenoni_exchange_begin(exchange, call.method, call.isPlain ? 1 : 0)
        set(TENONI_EXCHANGE_URL, call.url)
        set(TENONI_EXCHANGE_AGENT, "tenon/" + tenonVersion)
        set(TENONI_EXCHANGE_CA_FILE, call.options.caFile)
        set(TENONI_EXCHANGE_PINS, call.options.pinText)
        set(TENONI_EXCHANGE_UNIX_SOCKET, call.options.unixSocket)
        set(TENONI_EXCHANGE_HTTP_PROXY, call.proxy)
        for line in call.headers { set(TENONI_EXCHANGE_HEADER, line) }
    }

    private func set(_ what: tenoni_exchange_text, _ text: String?) {
        if let text { tenoni_exchange_set(exchange, what, text) }
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

    /// Nanoseconds since the machine started, as near as 64 bits come.
    fileprivate static func boot(_ instant: ContinuousClock.Instant) -> Int64 {
        let (seconds, attoseconds) = boot.duration(to: instant).components
        let limit = Int64.max / 1_000_000_000 - 1
        return min(max(seconds, -limit), limit) * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
