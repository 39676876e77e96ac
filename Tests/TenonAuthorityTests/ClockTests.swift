// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TenonAuthority
import Testing

/// A clock that a test sets.
final class FakeClock: AuthorityClock {
    private let time: Mutex<AuthorityInstant>

    init(wall: Int64 = 1_800_000_000_000, boot: Int64 = 1_000_000) {
        time = Mutex(AuthorityInstant(wall: wall, boot: boot))
    }

    func now() -> AuthorityInstant { time.withLock { $0 } }

    /// Lets time pass.
    func advance(_ milliseconds: Int64) {
        time.withLock { $0 = $0.advanced(byMilliseconds: milliseconds) }
    }

    /// Sets the wall clock and not the other.
    func step(_ milliseconds: Int64) { time.withLock { $0.wall += milliseconds } }

    /// The machine is started again.
    func reboot() { time.withLock { $0.boot = 0 } }
}

@Suite struct ClockTests {
    @Test func wallTimeNeverGoesBack() {
        let source = FakeClock(wall: 10_000, boot: 0)
        let clock = SteadyClock(source)
        #expect(clock.now().wall == 10_000)
        source.step(-5_000)
        source.advance(1_000)
        #expect(clock.now() == AuthorityInstant(wall: 10_000, boot: 1_000))
        #expect(clock.stepBack == 4_000)
        source.advance(5_000)
        #expect(clock.now() == AuthorityInstant(wall: 11_000, boot: 6_000))
        #expect(clock.stepBack == 0)
    }

    @Test func earlierLivesCount() {
        let clock = SteadyClock(FakeClock(wall: 10_000, boot: 0), notBefore: 20_000)
        #expect(clock.now().wall == 20_000)
    }

    @Test func deadlinePassesByEitherClock() {
        let deadline = AuthorityInstant(wall: 1_000, boot: 500)
        #expect(!deadline.isPast(at: AuthorityInstant(wall: 999, boot: 499)))
        #expect(deadline.isPast(at: AuthorityInstant(wall: 1_000, boot: 0)))
        #expect(deadline.isPast(at: AuthorityInstant(wall: 0, boot: 500)))
    }

    @Test func systemClockRuns() {
        let first = SystemClock().now()
        let second = SystemClock().now()
        #expect(first.wall > 1_700_000_000_000 && first.boot > 0)
        #expect(second.boot >= first.boot)
    }
}
