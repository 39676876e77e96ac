// SPDX-License-Identifier: Apache-2.0

/// How far the service's clock is ahead of this device's, and what that was measured against (security.md D4).
package struct ClockOffset: Equatable, Sendable {
    package let milliseconds: Int64
    /// CLOCK_REALTIME less CLOCK_BOOTTIME as it was measured, in milliseconds: it changes only when the clock is set.
    package let wallLessBoot: Int64
    /// The boot in which it was measured.
    package let boot: String

    package init(milliseconds: Int64, wallLessBoot: Int64, boot: String) {
        self.milliseconds = milliseconds
        self.wallLessBoot = wallLessBoot
        self.boot = boot
    }

    /// Whether it still holds: within one boot the clock must not have been set by more than a second since. What
    /// happened to the clock across a boot cannot be known; then it holds until a service says otherwise.
    package func holds(wallLessBoot now: Int64, boot: String) -> Bool {
        guard boot == self.boot else { return true }
        let (difference, overflow) = now.subtractingReportingOverflow(wallLessBoot)
        return !overflow && difference.magnitude <= 1000
    }
}
