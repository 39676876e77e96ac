// SPDX-License-Identifier: Apache-2.0

/// How far the service's clock is ahead of this device's, and what that was measured against (decision: clock-offset).
package struct ClockOffset: Equatable, Sendable {
    static let longestLife: Int64 = 86_400_000

    package let milliseconds: Int64
    /// CLOCK_REALTIME when it was measured, in milliseconds.
    package let learntAt: Int64
    /// CLOCK_REALTIME less CLOCK_BOOTTIME as it was measured, in milliseconds: it changes only when the clock is set.
    package let wallLessBoot: Int64
    /// The boot in which it was measured.
    package let boot: String

    package init(milliseconds: Int64, learntAt: Int64, wallLessBoot: Int64, boot: String) {
        self.milliseconds = milliseconds
        self.learntAt = learntAt
        self.wallLessBoot = wallLessBoot
        self.boot = boot
    }

    /// Whether it still holds: for a day at most, and within one boot as long as the clock was not set by more than a
    /// second. What happened to the clock across a boot cannot be known, so there the day is all that limits it.
    package func holds(at wall: Int64, wallLessBoot now: Int64, boot: String) -> Bool {
        let (age, isTooLong) = wall.subtractingReportingOverflow(learntAt)
        guard !isTooLong, -1000...Self.longestLife ~= age else { return false }
        guard boot == self.boot else { return true }
        let (difference, overflow) = now.subtractingReportingOverflow(wallLessBoot)
        return !overflow && difference.magnitude <= 1000
    }
}
