// SPDX-License-Identifier: Apache-2.0

/// What a device believes of the times that a service tells.
enum ClockRule {
    /// No device was ever used before this: 2026-01-01. A clock that shows less was never set.
    static let earliest: Int64 = 1_767_225_600

    /// What to add to this device's clock; nil when the answer is not to be believed.
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
    /// - Parameter said: the time of the answer as its body says it, where it has no `Date`.
    static func wait(until time: Double, in answer: HTTPResponse, said: Double?) -> Duration? {
        let dates = answer.values(of: "Date")
        let date = dates.count == 1 ? CivilDate.http(dates[0]).map { Double($0.components.seconds) } : nil
        guard let own = date ?? said else { return nil }
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
