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

    private struct Counts {
        var answers: [Label: Int] = [:]
        var retiredKeys = 0
    }

    private let counts = Mutex(Counts())

    /// Counts an answer: `OK`, or the code of its refusal.
    func count(_ endpoint: Endpoint?, _ code: Refusal.Code?) {
        counts.withLock { $0.answers[Label(endpoint: endpoint, code: code), default: 0] += 1 }
    }

    /// Counts a good signature by a key that was retired (security.md D5).
    func countRetiredKey() { counts.withLock { $0.retiredKeys += 1 } }

    /// The text exposition format, version 0.0.4.
    var text: String {
        let counts = counts.withLock { $0 }
        var lines = Metric.answers.head
        // Two endpoints at different listeners have one label.
        let answers = Dictionary(counts.answers.map { ($0.key.text, $0.value) }, uniquingKeysWith: +)
        lines += answers.map { "\(Metric.answers.name){\($0.key)} \($0.value)" }.sorted()
        lines += Metric.retiredKeyUses.lines(Int64(counts.retiredKeys))
        return lines.joined(separator: "\n") + "\n"
    }
}
