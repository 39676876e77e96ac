// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Tenon
import TenonHTTP

/// The connection from a device to the instances, which take turns as behind a balancer. It can change their answers.
final class ServedWire: Transport {
    typealias Change = @Sendable (HTTPResponse) throws(TenonError) -> HTTPResponse

    private struct State {
        var changes: [(path: String, change: Change)] = []
        var seen: [(instance: Int, path: String)] = []
        var shift = Duration.zero
        var selfRotation: Int?
        /// The new key of the last rotation that was done.
        var rotatedTo: String?
    }

    private let http: HTTPTransport
    private let urls: [String]
    private let state = Mutex(State())

    init(_ urls: [String]) throws {
        http = try HTTPTransport()
        self.urls = urls
    }

    /// The requests, and the instance of each.
    var seen: [(instance: Int, path: String)] { state.withLock { $0.seen } }

    var paths: [String] { seen.map(\.path) }

    /// Sets the device's clock this many seconds ahead.
    func setClock(by seconds: Int64) { setClock(by: .seconds(seconds)) }

    func setClock(by shift: Duration) { state.withLock { $0.shift = shift } }

    /// The answer of a service to a key that asks to be rotated to itself.
    func refuseSelfRotation(_ status: Int) { state.withLock { $0.selfRotation = status } }

    /// As the device's clock tells it.
    func told(_ moment: Moment) -> Moment {
        var moment = moment
        moment.sinceEpoch += state.withLock { $0.shift }
        return moment
    }

    /// Changes the next answer to a path with this ending.
    func change(_ path: String, _ change: @escaping Change) {
        state.withLock { $0.changes.append((path, change)) }
    }

    /// The service carries out the request, and its answer is lost.
    func lose(_ path: String) {
        change(path) { _ throws(TenonError) in throw TenonError(.httpNoAnswer, message: "The connection ended.") }
    }

    /// The answer has another status in its body, and no device id.
    func say(_ status: String, to path: String) { answer(path, with: ["status": .string(status)]) }

    /// The answer has another body, and perhaps another status.
    func answer(_ path: String, _ status: Int? = nil, with members: [String: JSON]) {
        change(path) { answer throws(TenonError) in
            var answer = answer
            if let status { answer.status = status }
            answer.body = try JSON.members(members).encoded()
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
        if path.hasSuffix("/rotate-key") { refuseAgain(request, &answer) }
        return if let change { try change(answer) } else { answer }
    }

    private static func isSigned(_ request: HTTPRequest, by key: String) -> Bool {
        func header(_ name: String) -> String { request.headers.first { $0.name == name }?.value ?? "" }
        do {
            let spki = try TextEncoding.base64.decode(key)
            let der = try TextEncoding.base64.decode(header("X-Synheart-Signature"))
            var message = try RequestMessage(
                method: request.method, path: HTTPURL(parsing: request.url).target,
                timestamp: header("X-Synheart-Timestamp"))
            try message.update(request.body.span)
            return try PublicKey(derRepresentation: spki.span)
                .isValidSignature(Signature(derRepresentation: der.span), for: message.finish())
        } catch {
            return false
        }
    }

    private func refuseAgain(_ request: HTTPRequest, _ answer: inout HTTPResponse) {
        guard answer.status == 200, let key = (try? JSON(parsing: request.body))?["new_public_key"]?.string else {
            return
        }
        state.withLock { state in
            if state.rotatedTo == key, let status = state.selfRotation {
                let isSelf = Self.isSigned(request, by: key)
                (answer.status, answer.body) =
                    isSelf ? (status, Array("{}".utf8)) : (401, Array(#"{"code":"INVALID_SIGNATURE"}"#.utf8))
            }
            state.rotatedTo = key
        }
    }
}
