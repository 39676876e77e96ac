// SPDX-License-Identifier: Apache-2.0

/// When a device believes that its clock is wrong (security.md D4).
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
}

extension Moment {
    private static let origin = ContinuousClock().systemEpoch

    /// CLOCK_REALTIME less CLOCK_BOOTTIME, in milliseconds.
    var wallLessBoot: Int64 {
        milliseconds - Self.origin.duration(to: continuous).milliseconds
    }
}
