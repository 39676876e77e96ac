// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization

/// A moment by two clocks: the wall clock, and the boot clock, which cannot be set.
package struct AuthorityInstant: Hashable, Sendable {
    /// Milliseconds since 1970, UTC.
    package var wall: Int64
    /// Milliseconds since the machine was started, including time asleep.
    package var boot: Int64

    package init(wall: Int64, boot: Int64) {
        self.wall = wall
        self.boot = boot
    }

    /// Unix seconds.
    package var seconds: Int64 { wall / 1000 }

    package func advanced(byMilliseconds milliseconds: Int64) -> AuthorityInstant {
        AuthorityInstant(wall: wall + milliseconds, boot: boot + milliseconds)
    }

    /// Whether this deadline has passed by either clock: a wall clock that is set back gives nobody more time. After a
    /// reboot, the deadline's boot time means nothing; at worst the deadline then passes too early.
    package func isPast(at now: AuthorityInstant) -> Bool { now.wall >= wall || now.boot >= boot }
}

/// A source of time. The authority uses a ``SteadyClock``.
package protocol AuthorityClock: Sendable {
    func now() -> AuthorityInstant
}

/// CLOCK_REALTIME and CLOCK_BOOTTIME.
package struct SystemClock: AuthorityClock {
    package init() {}

    package func now() -> AuthorityInstant {
        AuthorityInstant(wall: milliseconds(CLOCK_REALTIME), boot: milliseconds(CLOCK_BOOTTIME))
    }

    private func milliseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// A clock that does not follow a wrong step of the wall clock.
///
/// After a small step backwards, it stands still until the wall clock has caught up, so that nothing that has expired
/// becomes valid again. A step of more than a minute in either direction looks like a broken time server or a typing
/// error: the clock then follows the boot clock, and is right again by itself when the wall clock comes back. It
/// believes the step when the clocks of other machines agree with it (``compare(with:)``), or after so long that every
/// earlier request is too old to be replayed.
package final class SteadyClock: AuthorityClock {
    private struct State {
        var latest: AuthorityInstant
        /// The last reading of the source; nil before the first.
        var read: AuthorityInstant?
        /// The boot time since which the source is not believed; nil if it is.
        var doubtedSince: Int64?
        /// Whether the source began behind the time that an earlier process saw. It does not know the time yet, and is
        /// believed once it does.
        var isLost = false
    }

    /// Milliseconds by which the wall clock may be stepped and is still believed at once; requests may be 300 s old.
    package static let maxStep: Int64 = 60_000
    /// Milliseconds after which a step is believed if no other clock can be asked.
    package static let patience = MemoryReplayStore.retention

    private let source: any AuthorityClock
    private let state: Mutex<State>

    /// - Parameter wall: a wall time that an earlier process saw.
    package init(_ source: any AuthorityClock = SystemClock(), notBefore wall: Int64 = .min) {
        self.source = source
        state = Mutex(State(latest: AuthorityInstant(wall: wall, boot: .min)))
    }

    package func now() -> AuthorityInstant {
        let read = source.now()
        return state.withLock { SteadyClock.advance(&$0, to: read) }
    }

    /// The machine's own clock, whether it is believed or not.
    package var sourceNow: AuthorityInstant { source.now() }

    /// The milliseconds by which the source is behind the latest time; health reports more than 2,000.
    package var stepBack: Int64 {
        let read = source.now()
        return state.withLock { max(0, SteadyClock.advance(&$0, to: read).wall - read.wall) }
    }

    /// The milliseconds by which the source is ahead of the believed time; 0 when it is believed.
    package var stepAhead: Int64 {
        let read = source.now()
        return state.withLock { max(0, read.wall - SteadyClock.advance(&$0, to: read).wall) }
    }

    /// Believes the source if the clocks of other machines agree with it, and keeps doubting a step if they do not.
    ///
    /// - Parameter differences: the milliseconds by which the source is ahead of each of them.
    package func compare(with differences: [Int64]) {
        let read = source.now()
        state.withLock { state in
            let now = SteadyClock.advance(&state, to: read)
            let isApart = (now.wall - read.wall).magnitude > StoreHealth.maxClockDifference.magnitude
            guard !differences.isEmpty, isApart else { return }
            if differences.allSatisfy({ $0.magnitude <= StoreHealth.maxClockDifference.magnitude }) {
                SteadyClock.believe(&state, read)
                // A boot clock that went back with the wall clock was no boot clock; deadlines by it would last too
                // long.
                state.latest.boot = read.boot
            } else if state.doubtedSince != nil {
                state.doubtedSince = now.boot
            }
        }
    }

    private static func advance(_ state: inout State, to read: AuthorityInstant) -> AuthorityInstant {
        let boot = max(state.latest.boot, read.boot)
        defer { state.read = read }
        guard let last = state.read else {
            state.isLost = state.latest.wall != .min && state.latest.wall - read.wall > maxStep
            state.latest = AuthorityInstant(wall: max(state.latest.wall, read.wall), boot: boot)
            return state.latest
        }
        let expected = state.latest.wall + max(0, read.boot - last.boot)
        let step = read.wall - expected
        state.latest.boot = boot
        if step.magnitude <= maxStep.magnitude || state.isLost && step > 0 {
            state.latest.wall = max(state.latest.wall, read.wall)
            (state.doubtedSince, state.isLost) = (nil, false)
        } else if let since = state.doubtedSince, boot - since >= patience, !state.isLost {
            believe(&state, read)
        } else {
            state.latest.wall = expected
            state.doubtedSince = state.doubtedSince ?? boot
        }
        return state.latest
    }

    private static func believe(_ state: inout State, _ read: AuthorityInstant) {
        state.latest.wall = read.wall
        (state.doubtedSince, state.isLost) = (nil, false)
    }
}
