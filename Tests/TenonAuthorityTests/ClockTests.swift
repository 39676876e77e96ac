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

    /// Sets only the wall clock.
    func step(_ milliseconds: Int64) { time.withLock { $0.wall += milliseconds } }

    /// Restarts the machine.
    func reboot() { time.withLock { $0.boot = 0 } }
}

@Suite struct ClockTests {
    /// A clock, and the one that it follows, which was read.
    private static func clocks() -> (source: FakeClock, clock: SteadyClock) {
        let source = FakeClock(wall: 10_000_000, boot: 0)
        let clock = SteadyClock(source)
        _ = clock.now()
        return (source, clock)
    }
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

    /// A step that no other clock has made is not believed: the time follows the boot clock, and is right when the step
    /// is undone.
    @Test(arguments: [Int64(3_600_000), -3_600_000, 60_001, -60_001])
    func aWrongStepIsNotBelieved(_ step: Int64) {
        let (source, clock) = Self.clocks()
        source.step(step)
        for minute in 1...10 {
            source.advance(60_000)
            let minutes = Int64(minute) * 60_000
            #expect(clock.now() == AuthorityInstant(wall: 10_000_000 + minutes, boot: minutes))
            #expect(clock.stepBack == max(0, -step) && clock.stepAhead == max(0, step))
            clock.compare(with: [step, 0])
        }
        source.step(-step)
        #expect(clock.now() == source.now() && clock.stepBack == 0 && clock.stepAhead == 0)
    }

    /// Nor is a repeated step, or one that other clocks contradict.
    @Test func othersMayDenyAStep() {
        let (source, clock) = Self.clocks()
        source.step(3_600_000)
        for _ in 0..<60 {
            source.advance(60_000)
            clock.compare(with: [3_600_000, 3_600_000])
            #expect(clock.now().wall == source.now().wall - 3_600_000)
        }
    }

    @Test(arguments: [Int64(3_600_000), -3_600_000])
    func aStepOfAllIsBelieved(_ step: Int64) {
        let (source, clock) = Self.clocks()
        source.step(step)
        clock.compare(with: [-2_000, 2_000])
        #expect(clock.now() == source.now())
    }

    /// A boot clock that went ahead with the wall clock and came back was no boot clock: no deadline depends on it.
    @Test func aBootClockMayGoBack() {
        let (source, clock) = Self.clocks()
        source.advance(3_600_000)
        #expect(clock.now() == source.now())
        source.advance(-3_600_000)
        clock.compare(with: [0, 0])
        #expect(clock.now() == source.now())
    }

    /// If no other clock can be asked, a step is believed once earlier requests cannot be replayed.
    @Test(arguments: [Int64(3_600_000), -3_600_000])
    func aStepThatStaysIsBelieved(_ step: Int64) {
        let (source, clock) = Self.clocks()
        source.step(step)
        _ = clock.now()
        source.advance(SteadyClock.patience - 1)
        #expect(clock.now().wall == source.now().wall - step)
        source.advance(1)
        #expect(clock.now().wall == source.now().wall)
    }

    /// A machine that wakes up in the past, and learns the time later, is believed then.
    @Test func aClockThatLearnsTheTimeIsBelieved() {
        let source = FakeClock(wall: 10_000, boot: 0)
        let clock = SteadyClock(source, notBefore: 10_000_000)
        #expect(clock.now().wall == 10_000_000)
        source.advance(1_000)
        #expect(clock.now().wall == 10_001_000)
        source.step(20_000_000)
        #expect(clock.now().wall == source.now().wall)
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
