// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// The stores of an authority.
package struct AuthorityStores: Sendable {
    package var challenges: any ChallengeStore
    package var devices: any DeviceStore
    package var replays: any ReplayStore
    package var answers: any AnswerStore
    /// The health of the stores; it does not wait.
    package var health: @Sendable () -> StoreHealth

    package init(
        challenges: any ChallengeStore, devices: any DeviceStore, replays: any ReplayStore, answers: any AnswerStore,
        health: @escaping @Sendable () -> StoreHealth = { StoreHealth() }
    ) {
        self.challenges = challenges
        self.devices = devices
        self.replays = replays
        self.answers = answers
        self.health = health
    }
}

/// The health of the stores, for `/health`, metrics and log: checked each second, and read at any time.
package struct StoreHealth: Sendable {
    /// A part whose fault affects clients: a store, the state folder, the clock, or the answer to a request of this
    /// instance's own.
    package struct Part: Sendable {
        package var name: String
        /// The reason why it cannot do its work, by the last look; for operators only.
        package var fault: TenonError?
        /// The number of faults so far.
        package var faults = 0

        package init(name: String, fault: TenonError? = nil, faults: Int = 0) {
            (self.name, self.fault, self.faults) = (name, fault, faults)
        }
    }

    package var parts: [Part] = []
    /// The milliseconds by which this machine's clock is ahead of Redis's; nil with SQLite, and before the first look.
    package var redisClockDifference: Int64?
    /// The same for PostgreSQL's clock.
    package var postgresClockDifference: Int64?
    /// The milliseconds by which a clock is behind its latest time, because it was set back.
    package var stepBack: Int64 = 0
    /// The milliseconds by which this machine's clock is ahead of the believed time, because it was set forward and no
    /// other clock was.
    package var stepAhead: Int64 = 0
    /// How often a store may have forgotten requests since this instance began, which is an alarm.
    package var losses = 0
    /// The number of stored changes whose lines are not in the audit log yet.
    package var waitingLines = 0

    /// The most milliseconds by which two clocks may differ without a fault.
    package static let maxClockDifference: Int64 = 2_000

    package init() {}

    /// The first fault.
    package var fault: TenonError? { clockFault ?? parts.lazy.compactMap(\.fault).first }

    package var isHealthy: Bool { fault == nil }

    /// A fault that names the clocks that differ; nil if none do.
    package var clockFault: TenonError? {
        let limit = StoreHealth.maxClockDifference.magnitude
        for (name, difference) in [("Redis's", redisClockDifference), ("PostgreSQL's", postgresClockDifference)] {
            guard let difference, difference.magnitude > limit else { continue }
            return StoreHealth.clockFault(
                "This machine's clock is \(difference) ms ahead of \(name). Set the clock that is wrong.")
        }
        if stepBack.magnitude > limit {
            return StoreHealth.clockFault("A clock was set back by \(stepBack) ms. Time stops until it has caught up.")
        }
        if stepAhead.magnitude > limit {
            return StoreHealth.clockFault(
                "This machine's clock was set forward by \(stepAhead) ms, unlike every other clock. Set it back, or "
                    + "restart the authority if it is right now.")
        }
        return nil
    }

    private static func clockFault(_ message: String) -> TenonError { TenonError(.storeFailed, message: message) }
}

/// A store that health looks at once a second, to find the faults that a client would meet.
package protocol WatchedStore: Sendable {
    /// Its name in the log, in the metrics and in `tenon-authority health`: `redis`, `postgres`, `sqlite`.
    var watchedName: String { get }

    /// Writes a row or an entry of its own, on a connection that no request waits for, and returns within a few seconds
    /// whatever the store does.
    ///
    /// - Returns: the store's own time, in milliseconds since 1970; nil if it has no clock.
    /// - Throws: the reason why it cannot write, in the store's own words.
    func look() async throws(TenonError) -> Int64?
}
