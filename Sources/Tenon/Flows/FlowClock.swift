// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The two clocks and the chance that a flow uses, so that a test can be their master.
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
        wait: { try await Task.sleep(until: $0, clock: .continuous) },
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
