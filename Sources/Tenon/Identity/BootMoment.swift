// SPDX-License-Identifier: Apache-2.0

/// A moment on the clock that nobody sets, CLOCK_BOOTTIME: it says something within its own boot only.
package struct BootMoment: Equatable, Sendable {
    package let milliseconds: Int64
    package let boot: String

    package init(milliseconds: Int64, boot: String) {
        self.milliseconds = milliseconds
        self.boot = boot
    }

    /// How long ago an earlier moment was; nil for one of another boot.
    package func since(_ earlier: BootMoment) -> Duration? {
        let (length, overflow) = milliseconds.subtractingReportingOverflow(earlier.milliseconds)
        return boot == earlier.boot && !overflow && length >= 0 ? .milliseconds(length) : nil
    }
}
