// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Tenon
import TenonHTTP

/// The way from a device to the instances, which take turns as behind a balancer; what they say may be changed on it.
final class ServedWire: Transport {
    typealias Change = @Sendable (HTTPResponse) throws(TenonError) -> HTTPResponse

    private struct State {
        var changes: [(path: String, change: Change)] = []
        var seen: [(instance: Int, path: String)] = []
        var shift = Duration.zero
    }

    private let http: HTTPTransport
    private let urls: [String]
    private let state = Mutex(State())

    init(_ urls: [String]) throws {
        http = try HTTPTransport()
        self.urls = urls
    }

    /// What was asked, and whom.
    var seen: [(instance: Int, path: String)] { state.withLock { $0.seen } }

    var paths: [String] { seen.map(\.path) }

    /// Sets the device's clock so many seconds ahead.
    func setClock(by seconds: Int64) { state.withLock { $0.shift = .seconds(seconds) } }

    /// As the device's clock tells it.
    func told(_ moment: Moment) -> Moment {
        var moment = moment
        moment.sinceEpoch += state.withLock { $0.shift }
        return moment
    }

    /// Changes the next answer to a path that ends so.
    func change(_ path: String, _ change: @escaping Change) {
        state.withLock { $0.changes.append((path, change)) }
    }

    /// The service does what it is asked, and nobody hears.
    func lose(_ path: String) {
        change(path) { _ throws(TenonError) in throw TenonError(.httpNoAnswer, message: "The connection ended.") }
    }

    /// The answer has another status in its body, and no device id.
    func say(_ status: String, to path: String) {
        change(path) { answer throws(TenonError) in
            var answer = answer
            answer.body = try JSON.members(["status": .string(status)]).encoded()
            return answer
        }
    }

    func exchange(
        _ request: HTTPRequest, deadline: ContinuousClock.Instant
    ) async throws(TenonError) -> HTTPResponse {
        let path = String(request.url.dropFirst(urls[0].count))
        let (url, change) = state.withLock { state in
            let instance = state.seen.count % urls.count
            state.seen.append((instance, path))
            let index = state.changes.firstIndex { path.hasSuffix($0.path) }
            return (urls[instance], index.map { state.changes.remove(at: $0).change })
        }
        var request = request
        request.url = url + path
        var answer = try await http.exchange(request, deadline: deadline)
        (answer.sent, answer.received) = (told(answer.sent), told(answer.received))
        return if let change { try change(answer) } else { answer }
    }
}
