// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import TenonAuthority

/// How long answers take, as Prometheus reads it; what was answered, the service counts.
final class Metrics: Sendable {
    private struct State {
        var seconds: [String: (sum: Double, count: Int)] = [:]
        var waiting = 0
    }

    private let state = Mutex(State())

    /// Measures how long an answer takes.
    func measure(
        _ door: AuthorityRequest.Door, _ answer: () async -> AuthorityAnswer
    ) async -> AuthorityAnswer {
        let start = ContinuousClock.now
        state.withLock { $0.waiting += 1 }
        let answer = await answer()
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        state.withLock { state in
            state.waiting -= 1
            let before = state.seconds["\(door)"] ?? (0, 0)
            state.seconds["\(door)"] = (before.sum + Double(seconds) + Double(attoseconds) * 1e-18, before.count + 1)
        }
        return answer
    }

    /// The text exposition format, version 0.0.4.
    var text: String {
        let state = state.withLock { $0 }
        var lines = ["# TYPE tenon_authority_request_seconds summary"]
        for (door, seconds) in state.seconds.sorted(by: { $0.key < $1.key }) {
            lines.append("tenon_authority_request_seconds_sum{listener=\"\(door)\"} \(seconds.sum)")
            lines.append("tenon_authority_request_seconds_count{listener=\"\(door)\"} \(seconds.count)")
        }
        lines += [
            "# TYPE tenon_authority_requests_waiting gauge", "tenon_authority_requests_waiting \(state.waiting)", "",
        ]
        return lines.joined(separator: "\n")
    }
}
