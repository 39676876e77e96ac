// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tenon
internal import TenonHTTP

/// The way to the service, which is made when it is first used: who only signs needs none.
final class LateTransport: Transport {
    private let options: HTTPTransport.Options
    private let made = Mutex<HTTPTransport?>(nil)

    init(_ options: HTTPTransport.Options) { self.options = options }

    func exchange(
        _ request: HTTPRequest, deadline: ContinuousClock.Instant
    ) async throws(TenonError) -> HTTPResponse {
        let transport = try transport()
        let seconds = max(0, ContinuousClock.now.duration(to: deadline).components.seconds)
        let waiting = Progress.late("waits for the service's answer, \(seconds) s at most")
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
