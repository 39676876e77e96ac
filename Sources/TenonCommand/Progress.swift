// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tenon
internal import TenonHTTP

/// A transport that is made when it is first used: a verb that only signs needs none.
final class LazyTransport: Transport {
    private let options: HTTPTransport.Options
    private let made = Mutex<HTTPTransport?>(nil)

    init(_ options: HTTPTransport.Options) { self.options = options }

    func exchange(
        _ request: HTTPRequest, deadline: ContinuousClock.Instant
    ) async throws(TenonError) -> HTTPResponse {
        let transport = try transport()
        let seconds = max(0, ContinuousClock.now.duration(to: deadline).components.seconds)
        let waiting = Progress.late("waiting for the service's answer, \(seconds) s at most")
        defer { waiting.cancel() }
        return try await transport.exchange(request, deadline: deadline)
    }

    private func transport() throws(TenonError) -> HTTPTransport {
        try made.withLock { made throws(TenonError) in
            if let transport = made { return transport }
            let transport = try HTTPTransport(options)
            made = transport
            return transport
        }
    }
}

/// Shows the steps and the waits of long work on a terminal, and nowhere else.
enum Progress {
    static var log: LogSink? {
        guard Terminal.isShown(2) else { return nil }
        let isFirst = Once()
        let waiting = late("waiting: another process may be working on this identity") { isFirst.take() }
        return { event in
            if case .began = event, isFirst.take() { waiting.cancel() }
            Terminal.note("  \(event)")
        }
    }

    /// Shows a text when a wait takes more than a second. Cancel the task when the wait is over.
    static func late(_ text: String, if isWaiting: @escaping @Sendable () -> Bool = { true }) -> Task<Void, Never> {
        Task.detached {
            guard Terminal.isShown(2), (try? await Sleep.lasting(.seconds(1))) != nil, isWaiting() else { return }
            Terminal.note("  \(text)")
        }
    }
}
