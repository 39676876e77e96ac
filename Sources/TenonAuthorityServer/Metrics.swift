// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import TenonAuthority

/// Measures the durations of answers, for Prometheus. The engine counts the answers themselves.
final class Metrics: Sendable {
    /// The upper bounds of the buckets, in seconds; one more bucket is for the rest.
    private static let bounds: [Double] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

    private struct Histogram {
        /// For each bound, the answers that took at most as long, and longer than the bound before.
        var counts = [Int](repeating: 0, count: bounds.count)
        var sum = 0.0
        var count = 0

        mutating func add(_ seconds: Double) {
            if let index = Metrics.bounds.firstIndex(where: { seconds <= $0 }) { counts[index] += 1 }
            (sum, count) = (sum + seconds, count + 1)
        }
    }

    private struct State {
        var seconds: [AuthorityRequest.Door: Histogram] = [:]
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
            state.seconds[door, default: Histogram()].add(Double(seconds) + Double(attoseconds) * 1e-18)
        }
        return answer
    }

    /// The text exposition format, version 0.0.4.
    var text: String {
        let (state, name) = (state.withLock { $0 }, Metric.requestSeconds.name)
        var lines = Metric.requestSeconds.head
        for (door, seconds) in state.seconds.map({ ("\($0.key)", $0.value) }).sorted(by: { $0.0 < $1.0 }) {
            var sum = 0
            for (bound, count) in zip(Metrics.bounds, seconds.counts) {
                sum += count
                lines.append("\(name)_bucket{listener=\"\(door)\",le=\"\(bound)\"} \(sum)")
            }
            lines.append("\(name)_bucket{listener=\"\(door)\",le=\"+Inf\"} \(seconds.count)")
            lines.append("\(name)_sum{listener=\"\(door)\"} \(seconds.sum)")
            lines.append("\(name)_count{listener=\"\(door)\"} \(seconds.count)")
        }
        lines += Metric.requestsWaiting.lines(Int64(state.waiting))
        return lines.joined(separator: "\n") + "\n"
    }
}
