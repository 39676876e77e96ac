// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The two clocks and the random delays that a flow uses, so that a test can control them.
package struct FlowClock: Clock {
    package typealias Instant = ContinuousClock.Instant

    /// Both clocks at once.
    package let moment: @Sendable () -> Moment
    /// Which boot this is.
    package let boot: String
    private let wait: @Sendable (Instant) async throws -> Void
    private let draw: @Sendable (Duration) -> Duration

    /// - Parameters:
    ///   - wait: until this moment, or throws when the task is cancelled.
    ///   - draw: a duration from zero to this one.
    package init(
        moment: @escaping @Sendable () -> Moment, boot: String,
        wait: @escaping @Sendable (Instant) async throws -> Void, draw: @escaping @Sendable (Duration) -> Duration
    ) {
        self.moment = moment
        self.boot = boot
        self.wait = wait
        self.draw = draw
    }

    package static let system = FlowClock(
        moment: { Moment(continuous: .now, sinceEpoch: wallTime()) }, boot: LockHolder.currentBoot(),
        wait: { try await Sleep.until($0) },
        draw: { .milliseconds(Int.random(in: 0...Int($0 / .milliseconds(1)))) })

    package var now: Instant { moment().continuous }

    /// Now, on the clock that nobody sets.
    package var bootMoment: BootMoment {
        BootMoment(milliseconds: moment().bootMilliseconds, boot: boot)
    }

    package var minimumResolution: Duration { .nanoseconds(1) }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws { try await wait(deadline) }

    package func random(upTo limit: Duration) -> Duration { draw(limit) }

    private static func wallTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

extension Moment {
    /// CLOCK_REALTIME in milliseconds.
    var milliseconds: Int64 { sinceEpoch.milliseconds }
    /// Unix seconds.
    var seconds: Int64 { sinceEpoch.components.seconds }
}

extension Duration {
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow ? (seconds < 0 ? .min : .max) : product &+ attoseconds / 1_000_000_000_000_000
    }
}

/// Which times of a service a device believes.
enum ClockRule {
    /// No device was ever used before this: 2026-01-01. A clock that shows less was never set.
    static let earliest: Int64 = 1_767_225_600

    /// A service that asks for a longer pause with `CLOCK_SKEW` is not starting.
    static let longestPause = Duration.seconds(10)

    /// The time to add to this device's clock; nil if the answer is not believed.
    ///
    /// Only for answers of the service itself. Its time has to agree with the answer's own `Date`, and may not be
    /// further than a day away unless this clock was never set.
    static func offset(_ refusal: ServiceRefusal, in answer: HTTPResponse, boot: String) -> ClockOffset? {
        let dates = answer.values(of: "Date")
        guard refusal.verdict == .clockSkew, let theirs = refusal.serverTime, theirs > 0, theirs < 253_402_300_800,
            dates.count == 1, let date = CivilDate.http(dates[0])?.components.seconds,
            abs(theirs - Double(date)) <= 5
        else { return nil }
        let (sent, received) = (answer.sent.milliseconds, answer.received.milliseconds)
        // Where the wall clock was set between the two there is no middle.
        guard abs(answer.received.wallLessBoot - answer.sent.wallLessBoot) <= 1000 else { return nil }
        let middle = sent + (received - sent) / 2
        let offset = Int64(theirs * 1000) - middle
        guard abs(offset) <= 86_400_000 || middle < earliest * 1000 else { return nil }
        return ClockOffset(
            milliseconds: offset, learntAt: received, wallLessBoot: answer.received.wallLessBoot, boot: boot)
    }

    /// How long after an answer a time comes that it speaks of; nil is now. The two are the service's, so that this
    /// device's clock has no say in it: a second is what an answer in whole seconds may be behind itself, and what is
    /// more than a day away is a mistake.
    ///
    /// - Parameter bodyTime: the time of the answer as its body says it, where it has no `Date`.
    static func wait(until time: Double, in answer: HTTPResponse, bodyTime: Double?) -> Duration? {
        let dates = answer.values(of: "Date")
        let date = dates.count == 1 ? CivilDate.http(dates[0]).map { Double($0.components.seconds) } : nil
        guard let own = date ?? bodyTime else { return nil }
        let difference = time - own
        guard difference > 1, difference <= 86_400 else { return nil }
        return .milliseconds(Int64(difference * 1000))
    }
}

extension Moment {
    private static let origin = ContinuousClock().systemEpoch

    /// CLOCK_REALTIME less CLOCK_BOOTTIME, in milliseconds.
    var wallLessBoot: Int64 { milliseconds - bootMilliseconds }

    /// CLOCK_BOOTTIME in milliseconds.
    var bootMilliseconds: Int64 { Self.origin.duration(to: continuous).milliseconds }
}

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

extension BootMoment: RecordObject {
    static func coded(_ coder: RecordCoder, _ known: BootMoment?) throws(TenonError) -> BootMoment {
        try BootMoment(
            milliseconds: coder.member("boot_ms", known?.milliseconds, .number),
            boot: coder.member("boot", known?.boot, .text))
    }
}

extension ClockOffset: RecordObject {
    static func coded(_ coder: RecordCoder, _ known: ClockOffset?) throws(TenonError) -> ClockOffset {
        try ClockOffset(
            milliseconds: coder.member("clock_offset_ms", known?.milliseconds, .number),
            learntAt: coder.member("learnt_at_ms", known?.learntAt, .number),
            wallLessBoot: coder.member("wall_less_boot_ms", known?.wallLessBoot, .number),
            boot: coder.member("boot", known?.boot, .text))
    }
}
