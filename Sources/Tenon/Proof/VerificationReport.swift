// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// The checks and their results, in order, for people and logs. It holds no verified value.
public struct VerificationReport: Hashable, Sendable {
    /// The result of the checks.
    public let verdict: Verdict
    /// The checks that were reached; the last one is that of the rule that decided. None after a wrong argument.
    public let checks: [Check]
    /// Whether the TPM's clock had lost nothing, for an accepted proof.
    public let isClockSafe: Bool
    /// Whether the key was shown to be under the parent that the policy names.
    public let isHierarchyKnown: Bool

    /// The result of a verification.
    public enum Verdict: Hashable, Sendable {
        case accepted
        /// With the code of the rule that does not hold, or of what was wrong with the call.
        case refused(TenonError)
    }

    /// Throws what was refused.
    public func check() throws(TenonError) {
        if case .refused(let error) = verdict { throw error }
    }

    /// One line of a report.
    public struct Check: Hashable, Sendable {
        /// The rule, by its code.
        public let rule: TenonError.Code
        /// The result of the check.
        public let outcome: Outcome
        /// One sentence about what is wrong when the rule does not hold.
        public let text: String
    }

    /// The result of a check.
    public enum Outcome: Hashable, Sendable {
        case held
        case notHeld
        /// Not asked for, not to be judged, or let pass by the policy.
        case noted
    }
}

extension VerificationReport: CustomStringConvertible {
    /// A line for each check, and the verdict.
    public var description: String {
        (checks.map(\.description) + [verdict.description]).joined(separator: "\n")
    }
}

extension VerificationReport.Verdict: CustomStringConvertible {
    public var description: String {
        switch self {
        case .accepted: "accepted"
        case .refused(let error): "refused   \(error)"
        }
    }
}

extension VerificationReport.Check: CustomStringConvertible {
    public var description: String {
        switch outcome {
        case .held: "held      \(rule)"
        case .notHeld: "not held  \(rule): \(text)"
        case .noted: "noted     \(rule)"
        }
    }
}

extension VerificationReport {
    /// Reads the core's report. A proof is accepted only if both the status and the report say so.
    init(_ verify: (inout tenon_report) -> tenon_status) {
        var report = tenon_report()
        let status = verify(&report)
        self.init(core: report, status: status != 0 ? status : report.verdict)
    }

    private init(core: tenon_report, status: tenon_status) {
        verdict = status == 0 ? .accepted : .refused(TenonError(status: status))
        checks = withUnsafeBytes(of: core.checks) {
            $0.bindMemory(to: tenon_check.self).prefix(core.count).map(Check.init(core:))
        }
        isClockSafe = core.clock_safe == 1
        isHierarchyKnown = core.hierarchy_known == 1
    }
}

extension VerificationReport.Check {
    fileprivate init(core: tenon_check) {
        rule = TenonError.Code(rawValue: core.rule)
        outcome =
            switch core.held {
            case 1: .held
            case 2: .noted
            default: .notHeld
            }
        text = String(cString: tenon_status_text(core.rule))
    }
}
