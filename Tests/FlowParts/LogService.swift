// SPDX-License-Identifier: Apache-2.0
package import Synchronization
package import Tenon

/// An honest Auths service in memory, with the network in front of it. It takes the first event with a number, and the
/// same event again. It also keeps what left the device at all, also what never arrived.
package final class LogService: FatedService {
    package struct State: Sendable {
        package var logs: [String: [KeyEvent]] = [:]
        package var fates: [ScriptedService.Fate] = []
        package var late: [HTTPRequest] = []
        /// The SAIDs and attachments of all events that left the device, by identifier and number.
        package var sent: [String: Set<String>] = [:]
        package var exchanges = 0
        package var refused = 0
        /// The messages with events that were sent.
        package var messages = 0
        /// Logs that were verified, by the SAID of the last event.
        fileprivate var verified: [String: KeyEventLog] = [:]
    }

    package let state: Mutex<State>
    package let time: FlowTime

    package init(_ time: FlowTime, _ state: State = State()) {
        self.time = time
        self.state = Mutex(state)
    }

    package func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

    package var logs: [String: [KeyEvent]] { state.withLock { $0.logs } }
    /// The numbers for which two events left the device.
    package var numbersWithTwoEvents: Int { state.withLock { $0.sent.values.count { $0.count > 1 } } }
    package var exchanges: Int { state.withLock { $0.exchanges } }
    package var refused: Int { state.withLock { $0.refused } }
    package var messages: Int { state.withLock { $0.messages } }
    package var events: Int { state.withLock { $0.sent.count } }

    package func changeLate<Value: Sendable>(_ body: (inout [HTTPRequest]) -> Value) -> Value {
        state.withLock { body(&$0.late) }
    }

    package func fate(of request: HTTPRequest) -> ScriptedService.Fate {
        state.withLock { state in
            state.exchanges += 1
            for event in Self.events(in: request) { state.note(event) }
            if request.method == "POST" { state.messages += 1 }
            return state.fates.isEmpty ? .arrives : state.fates.removeFirst()
        }
    }

    package func response(
        _ status: Int, _ body: JSON, _ headers: [(name: String, value: String)] = []
    ) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: [("Content-Type", "application/json")] + headers,
            body: (try? body.encoded()) ?? [], sent: time.moment, received: time.moment)
    }

    private static func events(in request: HTTPRequest) -> [KeyEvent] {
        guard let json = try? JSON(parsing: request.body) else { return [] }
        let texts = json["events"]?.array?.compactMap(\.string) ?? [json["inception_event"]?.string].compactMap { $0 }
        let attachments =
            json["attachments"]?.array?.compactMap(\.string) ?? [json["attachment"]?.string].compactMap { $0 }
        return zip(texts, attachments).map { KeyEvent(bytes: Array($0.utf8), attachment: $1) }
    }

    package func answer(_ request: HTTPRequest) -> HTTPResponse {
        let path = String(request.url.dropFirst("https://log.example".count))
        let (status, body): (Int, JSON) = state.withLock { state in
            if request.method == "GET" { return state.tell(path) }
            for event in Self.events(in: request) {
                if let refusal = state.take(event) {
                    state.refused += 1
                    return refusal
                }
            }
            return (200, ["status": path == "/register" ? "registered" : "accepted"])
        }
        return response(status, body)
    }
}

extension LogService.State {
    private static func place(_ event: KeyEvent) -> (prefix: String, number: Int, said: String)? {
        let json = try? JSON(parsing: event.bytes)
        guard let json, let prefix = json["i"]?.string, let said = json["d"]?.string,
            let number = (json["s"]?.string).flatMap({ Int($0, radix: 16) })
        else { return nil }
        return (prefix, number, said)
    }

    mutating func note(_ event: KeyEvent) {
        guard let (prefix, number, said) = Self.place(event) else { return }
        sent["\(prefix) \(number)", default: []].insert(said + event.attachment)
    }

    /// nil when it is taken.
    mutating func take(_ event: KeyEvent) -> (Int, JSON)? {
        guard let (prefix, number, said) = Self.place(event) else { return (400, ["code": "INVALID_EVENT"]) }
        let taken = logs[prefix] ?? []
        if number < taken.count {
            return Self.place(taken[number])?.said == said ? nil : (409, ["code": "SEQUENCE_TAKEN"])
        }
        guard number == taken.count else { return (409, ["code": "SEQUENCE_GAP"]) }
        var log = KeyEventLog()
        do {
            if let last = taken.last.flatMap(Self.place), let known = verified[last.said] {
                log = known
            } else {
                for event in taken { try log.append(event) }
            }
            try log.append(event)
        } catch {
            return (400, ["code": "INVALID_EVENT"])
        }
        verified[said] = log
        logs[prefix] = taken + [event]
        return nil
    }

    /// `/v1/identities/{prefix}/kel?from=N&limit=M`
    func tell(_ path: String) -> (Int, JSON) {
        let words = path.split { "/?=&".contains($0) }
        guard words.count >= 8, let log = logs[String(words[2])], let from = Int(words[5]), let limit = Int(words[7])
        else { return (404, ["code": "NOT_FOUND"]) }
        let page = log.dropFirst(from).prefix(limit)
        return (
            200,
            [
                "events": .array(page.map { .string(String(decoding: $0.bytes, as: UTF8.self)) }),
                "attachments": .array(page.map { .string($0.attachment) }),
            ]
        )
    }
}
