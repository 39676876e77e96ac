// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// What was answered, counted, as Prometheus reads it. The labels are of this code, never of a request.
final class AuthorityMetrics: Sendable {
    private struct Label: Hashable, Comparable {
        let endpoint: String
        let code: String

        static func < (left: Label, right: Label) -> Bool {
            (left.endpoint, left.code) < (right.endpoint, right.code)
        }
    }

    private struct Counts {
        var answers: [Label: Int] = [:]
        var retiredKeys = 0
    }

    private let counts = Mutex(Counts())

    /// Counts an answer: `OK`, or the code of its refusal.
    func count(_ endpoint: Endpoint?, _ code: Refusal.Code?) {
        let label = Label(endpoint: endpoint?.label ?? "other", code: code?.rawValue ?? "OK")
        counts.withLock { $0.answers[label, default: 0] += 1 }
    }

    /// Counts a good signature by a key that was retired (security.md D5).
    func countRetiredKey() { counts.withLock { $0.retiredKeys += 1 } }

    /// The text exposition format, version 0.0.4.
    var text: String {
        let counts = counts.withLock { $0 }
        var lines = ["# TYPE tenon_authority_answers_total counter"]
        for (label, count) in counts.answers.sorted(by: { $0.key < $1.key }) {
            lines.append(
                "tenon_authority_answers_total{endpoint=\"\(label.endpoint)\",code=\"\(label.code)\"} \(count)")
        }
        lines += [
            "# TYPE tenon_authority_retired_key_uses_total counter",
            "tenon_authority_retired_key_uses_total \(counts.retiredKeys)", "",
        ]
        return lines.joined(separator: "\n")
    }
}
