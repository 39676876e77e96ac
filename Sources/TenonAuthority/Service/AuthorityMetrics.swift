// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// What was answered, counted, as Prometheus reads it. The labels are of this code, never of a request.
final class AuthorityMetrics: Sendable {
    /// Its text is made when somebody reads it.
    private struct Label: Hashable {
        let endpoint: Endpoint?
        let code: Refusal.Code?

        var text: String { "endpoint=\"\(endpoint?.label ?? "other")\",code=\"\(code?.rawValue ?? "OK")\"" }
    }

    private struct Cause: Hashable {
        let endpoint: Endpoint?
        let cause: String

        var text: String { "endpoint=\"\(endpoint?.label ?? "other")\",cause=\"\(cause)\"" }
    }

    private struct Counts {
        var answers: [Label: Int] = [:]
        var refusals: [Cause: Int] = [:]
        var retiredKeys = 0
    }

    private let counts = Mutex(Counts())

    /// Counts an answer, and why it is a refusal, if it is one.
    func count(_ endpoint: Endpoint?, _ refusal: Refusal?) {
        counts.withLock { counts in
            counts.answers[Label(endpoint: endpoint, code: refusal?.code), default: 0] += 1
            guard let refusal else { return }
            counts.refusals[Cause(endpoint: endpoint, cause: refusal.cause), default: 0] += 1
        }
    }

    /// Counts a good signature by a key that was retired (decision: copied-key).
    func countRetiredKey() { counts.withLock { $0.retiredKeys += 1 } }

    /// The text exposition format, version 0.0.4.
    var text: String {
        let counts = counts.withLock { $0 }
        var lines = Self.samples(.answers, counts.answers.map { ($0.key.text, $0.value) })
        lines += Self.samples(.refusals, counts.refusals.map { ($0.key.text, $0.value) })
        lines += Metric.retiredKeyUses.lines(Int64(counts.retiredKeys))
        return lines.joined(separator: "\n") + "\n"
    }

    private static func samples(_ metric: Metric, _ values: [(String, Int)]) -> [String] {
        // Two endpoints at different listeners have one label.
        let merged = Dictionary(values, uniquingKeysWith: +)
        return metric.head + merged.map { "\(metric.name){\($0.key)} \($0.value)" }.sorted()
    }
}
