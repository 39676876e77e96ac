// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Synchronization
import Tenon

/// Watches the processes of one device from the service's side, and reports forbidden events.
///
/// Time is the number of events. A key is released when the operation that replaced it has ended: from then on, no
/// process may begin to sign with it; before, a process that does is refused, and asks.
final class Referee: Sendable {
    struct Turn {
        let command: String
        let begin: Int
        /// All devices so far; a reset forgets them.
        let devices: Set<String>
        /// The keys that the service replaced in this turn.
        var replaced: Set<String> = []
    }

    private struct State {
        var now = 0
        /// The time at which a device or a key was released.
        var ends: [String: Int] = [:]
        /// The replaced keys of processes that died before they recorded it, and the time of their death.
        var orphans: [String: Int] = [:]
        var turns: [Int: Turn] = [:]
        var lastReset = 0
        var lastRegistration = 0
        var counts: [String: Int] = [:]
        var violations: [String] = []
    }

    private let state = Mutex(State())
    let service: ScriptedService

    init(_ service: ScriptedService) { self.service = service }

    var violations: [String] { state.withLock { $0.violations } }
    var counts: [String: Int] { state.withLock { $0.counts } }

    func complain(_ violation: String) { state.withLock { $0.violations.append(violation) } }

    func begin(_ command: String, by number: Int) {
        let devices = Set(service.devices.keys)
        state.withLock { state in
            state.now += 1
            state.turns[number] = Turn(command: command, begin: state.now, devices: devices)
        }
    }

    /// The process has finished its command; nil if it died.
    func end(_ word: String?, of number: Int) {
        state.withLock { state in
            guard let turn = state.turns.removeValue(forKey: number) else { return }
            state.now += 1
            state.counts["\(turn.command) \(word ?? "died")", default: 0] += 1
            if turn.command == "reset" {
                state.lastReset = state.now
                // A process that died may not have done it.
                if word == "ok" { for id in turn.devices { state.ends[id] = state.now } }
            }
            guard word != nil else {
                for key in turn.replaced { state.orphans[key] = state.now }
                return
            }
            for key in turn.replaced { state.ends[key] = state.now }
            guard turn.command == "rotate", word == "ok" else { return }
            for (key, death) in state.orphans where death < turn.begin {
                state.ends[key] = state.now
                state.orphans[key] = nil
            }
        }
    }

    /// The service's answer to a line of a process; nil if the line ends its turn.
    func answer(to line: String, of number: Int) -> String? {
        // One at a time, so that the states before and after belong to this line.
        state.withLock { state in
            let before = service.devices
            guard let answer = ServiceLine.answer(to: line, by: service) else { return nil }
            let after = service.devices
            state.now += 1
            for id in after.keys where before[id] == nil {
                let mayBegin =
                    state.lastReset > state.lastRegistration || state.turns.values.contains { $0.command == "reset" }
                if !before.isEmpty, !mayBegin { state.violations.append("\(id) is registered beside another one") }
                state.lastRegistration = state.now
            }
            for (id, device) in after {
                guard let old = before[id]?.key, old != device.key else { continue }
                state.turns[number]?.replaced.insert(old)
                state.counts["keys taken", default: 0] += 1
            }
            if let request = service.seen.last, ScriptedService.path(request) == "/v1/x" {
                judge(request, answer, &state, number)
            }
            service.change { $0.seen = [] }
            return answer
        }
    }

    /// Checks which key signed, and whether it was allowed to.
    private func judge(_ request: HTTPRequest, _ answer: String, _ state: inout State, _ number: Int) {
        guard let begin = state.turns[number]?.begin else { return }
        let id = request.headers.first { $0.name == "X-Device-ID" }?.value ?? ""
        let isTaken = answer.isTaken
        state.counts[isTaken ? "signatures taken" : "signatures by a key that is being replaced", default: 0] += 1
        func lapsed(_ name: String) -> Bool { state.ends[name].map { $0 < begin } ?? false }
        if lapsed(id) { state.violations.append("\(id) signs, and was reset before") }
        guard !isTaken else { return }
        let keys = service.devices[id]?.retired ?? []
        let signer = service.state.withLock { service in
            keys.first { service.isSigned(request, "/v1/x", by: $0) }
        }
        guard let signer else { return state.violations.append("a signature of \(id) is of no key of it") }
        if lapsed(signer) { state.violations.append("\(id) signs with a key that was replaced before") }
    }
}

extension String {
    fileprivate var isTaken: Bool { (try? ServiceLine.decode(self, at: FlowTime().moment).status) == 200 }
}
