// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// Counts the answers, for Prometheus. The labels come from this code, never from a request.
final class AuthorityMetrics: Sendable {
    /// The text is made when it is read.
    private struct Label: Hashable {
        let endpoint: String?
        let code: Refusal.Code?

        var text: String { "endpoint=\"\(endpoint ?? "other")\",code=\"\(code?.rawValue ?? "OK")\"" }
    }

    private struct Cause: Hashable {
        let endpoint: String?
        let cause: String

        var text: String { "endpoint=\"\(endpoint ?? "other")\",cause=\"\(cause)\"" }
    }

    private struct Counts {
        var answers: [Label: Int] = [:]
        var refusals: [Cause: Int] = [:]
        var retiredKeys = 0
        var eventConflicts = 0
        var verifications = 0
        var knownRoots = 0
        /// For each bound, the batches that have at most as many requests, and more than the bound before.
        var batches = [Int](repeating: 0, count: AuthorityMetrics.sizes.count)
        var members = 0
    }

    /// The upper bounds of the sizes of batches.
    private static let sizes = [1, 4, 16, 64, 256, 1_024]

    private let counts = Mutex(Counts())

    /// Counts an answer of a route, and the cause if it is a refusal.
    func count(_ endpoint: String?, _ refusal: Refusal?) {
        counts.withLock { counts in
            counts.answers[Label(endpoint: endpoint, code: refusal?.code), default: 0] += 1
            guard let refusal else { return }
            counts.refusals[Cause(endpoint: endpoint, cause: refusal.cause), default: 0] += 1
        }
    }

    /// Counts a good signature by a key that was retired (decision: copied-key).
    func countRetiredKey() { counts.withLock { $0.retiredKeys += 1 } }

    /// Counts another signed event with a number that was taken.
    func countEventConflict() { counts.withLock { $0.eventConflicts += 1 } }

    /// Counts a signature of version 2 that is about to be verified.
    func countVerification() { counts.withLock { $0.verifications += 1 } }

    /// Counts a request of a batch whose signature was verified before.
    func countKnownRoot() { counts.withLock { $0.knownRoots += 1 } }

    /// Counts a good signature of version 2 by the requests that it stands for.
    func countRoot(size: Int) {
        counts.withLock { counts in
            if let index = Self.sizes.firstIndex(where: { size <= $0 }) { counts.batches[index] += 1 }
            counts.members += size
        }
    }

    /// The text exposition format, version 0.0.4.
    var text: String {
        let counts = counts.withLock { $0 }
        var lines = Self.samples(.answers, counts.answers.map { ($0.key.text, $0.value) })
        lines += Self.samples(.refusals, counts.refusals.map { ($0.key.text, $0.value) })
        lines += Metric.retiredKeyUses.lines(Int64(counts.retiredKeys))
        lines += Metric.eventConflicts.lines(Int64(counts.eventConflicts))
        lines += Metric.verifications.lines(Int64(counts.verifications))
        lines += Metric.knownRoots.lines(Int64(counts.knownRoots))
        lines += Self.histogram(counts)
        return lines.joined(separator: "\n") + "\n"
    }

    private static func histogram(_ counts: Counts) -> [String] {
        let (name, count) = (Metric.batchRequests.name, counts.batches.reduce(0, +))
        var (lines, sum) = (Metric.batchRequests.head, 0)
        for (bound, count) in zip(sizes, counts.batches) {
            sum += count
            lines.append("\(name)_bucket{le=\"\(bound)\"} \(sum)")
        }
        return lines + [
            "\(name)_bucket{le=\"+Inf\"} \(count)", "\(name)_sum \(counts.members)", "\(name)_count \(count)",
        ]
    }

    private static func samples(_ metric: Metric, _ values: [(String, Int)]) -> [String] {
        // Two endpoints at different listeners may share a label.
        let merged = Dictionary(values, uniquingKeysWith: +)
        return metric.head + merged.map { "\(metric.name){\($0.key)} \($0.value)" }.sorted()
    }
}

/// The metrics. Their names, kinds and help texts are only here, and their labels come from this code: they are never
/// ids or addresses.
package enum Metric: String, CaseIterable, Sendable {
    case answers = "answers_total"
    case refusals = "refusals_total"
    case retiredKeyUses = "retired_key_uses_total"
    case eventConflicts = "event_conflicts_total"
    case verifications = "signature_verifications_total"
    case knownRoots = "known_root_requests_total"
    case batchRequests = "batch_requests"
    case healthy
    case redisClockDifference = "redis_clock_difference_milliseconds"
    case postgresClockDifference = "postgres_clock_difference_milliseconds"
    case clockStepBack = "clock_step_back_milliseconds"
    case clockStepAhead = "clock_step_ahead_milliseconds"
    case partHealthy = "part_healthy"
    case partFaults = "part_faults_total"
    case auditWaitingLines = "audit_waiting_lines"
    case auditSignedLines = "audit_signed_lines"
    case activations
    case activationsLimit = "activations_limit"
    case replayLosses = "replay_losses_total"
    case requestSeconds = "request_seconds"
    case requestsWaiting = "requests_waiting"

    package var help: String {
        switch self {
        case .answers: "Answers by endpoint and code; OK means not refused."
        case .refusals: "Refusals by endpoint and cause: a rule of the verifier, or a word."
        case .retiredKeyUses: "Valid signatures by replaced keys: somebody has a copy."
        case .eventConflicts: "Other signed events with numbers that were taken: an identity contradicts itself."
        case .verifications: "Signatures of version 2 that were verified, good or not."
        case .knownRoots: "Requests of version 2 whose signature had been verified before, with another request."
        case .batchRequests: "How many requests a good signature of version 2 stands for."
        case .healthy: "1 when requests are accepted, 0 when a store fails or a clock is wrong."
        case .redisClockDifference: "How far this machine's clock is ahead of Redis's."
        case .postgresClockDifference: "How far this machine's clock is ahead of PostgreSQL's."
        case .clockStepBack: "How far a clock is behind a time that it showed before."
        case .clockStepAhead: "How far this machine's clock is ahead of the believed time."
        case .partHealthy: "1 when this part works, 0 when it has a fault."
        case .partFaults: "How often a fault of this part began."
        case .auditWaitingLines: "Stored changes whose lines are not in the audit log yet."
        case .auditSignedLines: "The last line of the audit log that a signed head covers."
        case .activations: "Activations that are being computed or are waiting."
        case .activationsLimit: "The limit of activations."
        case .replayLosses: "How often a store may have forgotten requests."
        case .requestSeconds: "How long answers take, by listener."
        case .requestsWaiting: "Requests that are being answered."
        }
    }

    private var kind: String {
        switch self {
        case .answers, .refusals, .retiredKeyUses, .eventConflicts, .replayLosses, .partFaults, .verifications,
            .knownRoots:
            "counter"
        case .requestSeconds, .batchRequests: "histogram"
        default: "gauge"
        }
    }

    package var name: String { "tenon_authority_" + rawValue }

    /// The lines before its samples, in the text exposition format, version 0.0.4.
    package var head: [String] { ["# HELP \(name) \(help)", "# TYPE \(name) \(kind)"] }

    /// The lines of a metric with one sample and no labels.
    package func lines(_ value: Int64) -> [String] { head + ["\(name) \(value)"] }
}
