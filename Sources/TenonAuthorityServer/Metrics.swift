// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import TenonAuthority

/// Counts of what was answered, as Prometheus reads them. They name no device.
final class Metrics: Sendable {
    private struct Answered: Hashable, Comparable {
        let door: String
        let status: Int

        static func < (left: Answered, right: Answered) -> Bool {
            (left.door, left.status) < (right.door, right.status)
        }
    }

    private struct State {
        var answered: [Answered: Int] = [:]
        var seconds: [String: (sum: Double, count: Int)] = [:]
        var waiting = 0
    }

    private let state = Mutex(State())

    /// Counts a request, and how long its answer took.
    func measure(
        _ door: AuthorityRequest.Door, _ answer: () async -> AuthorityAnswer
    ) async -> AuthorityAnswer {
        let start = ContinuousClock.now
        state.withLock { $0.waiting += 1 }
        let answer = await answer()
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        let name = "\(door)"
        state.withLock { state in
            state.waiting -= 1
            state.answered[Answered(door: name, status: answer.status), default: 0] += 1
            let before = state.seconds[name] ?? (0, 0)
            state.seconds[name] = (before.sum + Double(seconds) + Double(attoseconds) * 1e-18, before.count + 1)
        }
        return answer
    }

    /// The text format 0.0.4.
    ///
    /// - Parameter stepBack: milliseconds by which the wall clock is behind what was seen.
    func text(stepBack: Int64) -> String {
        let state = state.withLock { $0 }
        var text = Metrics.head("requests_total", "counter", "Requests that were answered.")
        for key in state.answered.keys.sorted() {
            text += "tenon_authority_requests_total{door=\"\(key.door)\",status=\"\(key.status)\"} "
            text += "\(state.answered[key] ?? 0)\n"
        }
        text += Metrics.head("request_seconds", "summary", "What their answers took.")
        for (door, seconds) in state.seconds.sorted(by: { $0.key < $1.key }) {
            text += "tenon_authority_request_seconds_sum{door=\"\(door)\"} \(seconds.sum)\n"
            text += "tenon_authority_request_seconds_count{door=\"\(door)\"} \(seconds.count)\n"
        }
        text += Metrics.head("requests_waiting", "gauge", "Requests whose answer is being made.")
        text += "tenon_authority_requests_waiting \(state.waiting)\n"
        text += Metrics.head("clock_behind_seconds", "gauge", "By how much the wall clock was set back.")
        text += "tenon_authority_clock_behind_seconds \(Double(stepBack) / 1000)\n"
        return text
    }

    private static func head(_ name: String, _ type: String, _ help: String) -> String {
        "# HELP tenon_authority_\(name) \(help)\n# TYPE tenon_authority_\(name) \(type)\n"
    }
}
