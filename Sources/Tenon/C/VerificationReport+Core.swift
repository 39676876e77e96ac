// SPDX-License-Identifier: Apache-2.0
internal import CTenon

extension VerificationReport {
    /// What the core reports while it verifies. Accepted is only what both say is.
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
