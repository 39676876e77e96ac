// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization

/// A moment, by two clocks: what people and certificates say, and what cannot be set.
package struct AuthorityInstant: Hashable, Sendable {
    /// Milliseconds since 1970, UTC.
    package var wall: Int64
    /// Milliseconds since the machine was started, time asleep included.
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
    /// reboot the boot clock of the deadline is another's; it then at worst ends it too early.
    package func isPast(at now: AuthorityInstant) -> Bool { now.wall >= wall || now.boot >= boot }
}

/// Where the time comes from. What the authority uses is a ``SteadyClock``.
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

/// A clock whose wall time never goes back (security.md E4): after a step backwards it stands still until the other
/// has caught up, so that nothing that has expired is valid again.
package final class SteadyClock: AuthorityClock {
    private let source: any AuthorityClock
    private let latest: Mutex<AuthorityInstant>

    /// - Parameter wall: a wall time that was seen before, in another life of the process.
    package init(_ source: any AuthorityClock = SystemClock(), notBefore wall: Int64 = .min) {
        self.source = source
        latest = Mutex(AuthorityInstant(wall: wall, boot: .min))
    }

    package func now() -> AuthorityInstant {
        let read = source.now()
        return latest.withLock { latest in
            latest = AuthorityInstant(wall: max(latest.wall, read.wall), boot: max(latest.boot, read.boot))
            return latest
        }
    }

    /// By how many milliseconds the source is behind what was seen; health says so when it is more than 2,000.
    package var stepBack: Int64 {
        let read = source.now()
        return max(0, latest.withLock { $0.wall } - read.wall)
    }
}
