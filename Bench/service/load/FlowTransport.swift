// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tenon
internal import TenonHTTP

/// HTTP as a device speaks it, which notes what is asked.
final class FlowTransport: Transport {
    private let http: HTTPTransport
    private let origin: String
    private let asked = Mutex<[String]>([])
    private let refused = Mutex<String?>(nil)

    init(to origin: String) throws(TenonError) {
        http = try HTTPTransport()
        self.origin = origin
    }

    /// `POST /auth/v1/device/register`, of each exchange since the last call.
    func takeExchanges() -> [String] {
        asked.withLock { asked in
            defer { asked = [] }
            return asked
        }
    }

    /// Sends the next request to this end of a path to nobody.
    func refuseNext(_ end: String) { refused.withLock { $0 = end } }

    func exchange(
        _ request: HTTPRequest, deadline: ContinuousClock.Instant
    ) async throws(TenonError) -> HTTPResponse {
        let isRefused = refused.withLock { refused in
            guard let end = refused, request.url.hasSuffix(end) else { return false }
            refused = nil
            return true
        }
        guard !isRefused else { throw TenonError(.serviceRefused, message: "The bench refuses this request.") }
        // An identifier is another one each round.
        let path = request.url.dropFirst(origin.count).prefix { $0 != "?" }
        let words = path.split(separator: "/", omittingEmptySubsequences: false).map { $0.utf8.count == 44 ? "ID" : $0 }
        asked.withLock { $0.append("\(request.method) \(words.joined(separator: "/"))") }
        return try await http.exchange(request, deadline: deadline)
    }
}
