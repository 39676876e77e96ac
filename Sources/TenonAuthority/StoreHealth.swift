// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// What the stores say of themselves, for health and metrics: looked at each minute (security.md E4), and asked for at
/// any time.
package struct StoreHealth: Sendable {
    /// By how many milliseconds this machine's clock is ahead of Redis's; nil with SQLite, and before it could be asked.
    package var redisClockDifference: Int64?
    /// The same of PostgreSQL's.
    package var postgresClockDifference: Int64?
    /// By how many milliseconds a clock is behind what was seen of it before: it was set back.
    package var stepBack: Int64 = 0
    /// How often a store may have forgotten requests since this instance began: an alarm.
    package var losses = 0
    /// Changes that are stored and whose lines are not in the audit log yet.
    package var waitingLines = 0
    /// Why a store cannot be asked, or may not be believed, since the last look; for operators only.
    package var fault: TenonError?

    /// What is noticed later than the stores' own clocks may differ.
    package static let maxClockDifference: Int64 = 2_000

    package init() {}

    package var isHealthy: Bool {
        let clocks = [redisClockDifference, postgresClockDifference, stepBack].compactMap { $0?.magnitude }
        return fault == nil && clocks.allSatisfy { $0 <= StoreHealth.maxClockDifference.magnitude }
    }
}
