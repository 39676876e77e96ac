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
    /// One of those whose fault keeps clients from what they want: a store, the state folder, the clock, or the answer
    /// to a request of this instance's own.
    package struct Part: Sendable {
        package var name: String
        /// Why it cannot do its work, since the last look; for operators only.
        package var fault: TenonError?
        /// How often it has begun to have a fault.
        package var faults = 0

        package init(name: String, fault: TenonError? = nil, faults: Int = 0) {
            (self.name, self.fault, self.faults) = (name, fault, faults)
        }
    }

    package var parts: [Part] = []
    /// By how many milliseconds this machine's clock is ahead of Redis's; nil with SQLite, and before the first look.
    package var redisClockDifference: Int64?
    /// The same of PostgreSQL's.
    package var postgresClockDifference: Int64?
    /// By how many milliseconds a clock is behind what was seen of it before: it was set back.
    package var stepBack: Int64 = 0
    /// By how many milliseconds this machine's clock is ahead of what is believed: it was set forward, and no other
    /// clock was.
    package var stepAhead: Int64 = 0
    /// How often a store may have forgotten requests since this instance began: an alarm.
    package var losses = 0
    /// Stored changes whose lines are not in the audit log yet.
    package var waitingLines = 0

    /// What is noticed later than the stores' own clocks may differ.
    package static let maxClockDifference: Int64 = 2_000

    package init() {}

    /// The first of all faults.
    package var fault: TenonError? { clockFault ?? parts.lazy.compactMap(\.fault).first }

    package var isHealthy: Bool { fault == nil }

    /// Which clocks are apart.
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

/// A store as health looks at it, once a second: what it says is what a client would meet.
package protocol WatchedStore: Sendable {
    /// What the log, the metrics and `tenon-authority health` call it: `redis`, `postgres`, `sqlite`.
    var watchedName: String { get }

    /// Writes something of its own, on a connection that no request waits for, and ends within a few seconds, whatever
    /// the store does.
    ///
    /// - Returns: the store's own time, in milliseconds since 1970; nil when it has none.
    /// - Throws: why it cannot write, in the store's own words.
    func look() async throws(TenonError) -> Int64?
}
