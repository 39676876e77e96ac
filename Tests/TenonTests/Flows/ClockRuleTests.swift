// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Testing

@testable import Tenon

/// The times in an answer that are believed. The flows' own tests use only one way to give them.
@Suite struct ClockRuleTests {
    /// 2027-01-15 08:00:00 UTC.
    private let start: Int64 = 1_800_000_000

    /// Devices that failed together try again one after the other.
    @Test func aPauseIsDrawn() {
        let drawn = Set((0..<64).map { _ in FlowClock.system.random(upTo: .seconds(1)) })
        #expect(drawn.count > 1 && drawn.allSatisfy { .zero ... .seconds(1) ~= $0 })
    }

    /// - Parameters:
    ///   - after: seconds on the boot clock; `wall` is the same on the wall clock.
    private func moment(after seconds: Int64, wall: Int64? = nil) -> Moment {
        Moment(
            continuous: ContinuousClock().systemEpoch + .seconds(100 + seconds),
            sinceEpoch: .seconds(start + (wall ?? seconds)))
    }

    private func answer(date: Int64?, sent: Moment, received: Moment) -> HTTPResponse {
        HTTPResponse(
            status: 401, headers: date.map { [("Date", imfDate($0))] } ?? [], body: [], sent: sent, received: received)
    }

    /// The answer of a service whose clock is this many seconds ahead.
    private func offset(
        theirs: Int64, date: Int64? = nil, sent: Moment, received: Moment
    ) -> Int64? {
        let error = TenonError(.clockSkew, message: "")
        let refusal = ServiceRefusal(verdict: .clockSkew, error: error, serverTime: Double(start + theirs))
        let answer = answer(date: start + (date ?? theirs), sent: sent, received: received)
        return ClockRule.offset(refusal, in: answer, boot: "boot")?.milliseconds
    }

    /// The time of the exchange is not a difference of the clocks: the middle is compared.
    @Test func anOffsetIsThatOfTheMiddle() {
        let (sent, received) = (moment(after: 0), moment(after: 8))
        #expect(offset(theirs: 4, sent: sent, received: received) == 0)
        #expect(offset(theirs: 1004, sent: sent, received: received) == 1_000_000)
        #expect(offset(theirs: -996, sent: sent, received: received) == -1_000_000)
    }

    /// If somebody set the wall clock meanwhile, there is no middle.
    @Test(arguments: [3600, -3600, 9, 7] as [Int64])
    func aClockThatIsSetOnTheWayMeasuresNothing(_ wall: Int64) {
        let isSet = wall != 9 && wall != 7
        let offset = offset(theirs: 1000, sent: moment(after: 0), received: moment(after: 8, wall: wall))
        #expect((offset == nil) == isSet)
    }

    /// A time that the answer's own Date contradicts is a mistake or an attack.
    @Test(arguments: [0, 5, -5, 6, -6, 86_400] as [Int64])
    func aTimeThatTheDateContradictsIsNotBelieved(_ difference: Int64) {
        let now = moment(after: 0)
        let offset = offset(theirs: 1000, date: 1000 + difference, sent: now, received: now)
        #expect(offset == (difference.magnitude <= 5 ? 1_000_000 : nil))
    }

    /// A later time is compared with the answer's: its Date, or else what its body says; never with this device's
    /// clock.
    @Test(arguments: [0, 5000, -5000] as [Int64])
    func aLaterTimeIsComparedWithTheAnswers(_ skew: Int64) {
        let now = moment(after: 0)
        let theirs = start + skew
        let (dated, undated) = (
            answer(date: theirs, sent: now, received: now), answer(date: nil, sent: now, received: now)
        )
        let time = Double(theirs + 120)
        #expect(ClockRule.wait(until: time, in: dated, bodyTime: nil) == .seconds(120))
        #expect(ClockRule.wait(until: time, in: undated, bodyTime: Double(theirs)) == .seconds(120))
        #expect(ClockRule.wait(until: time, in: dated, bodyTime: Double(theirs + 100)) == .seconds(120))
        #expect(ClockRule.wait(until: time, in: undated, bodyTime: nil) == nil)
        #expect(ClockRule.wait(until: Double(theirs + 1), in: dated, bodyTime: nil) == nil)
        #expect(ClockRule.wait(until: Double(theirs) + 1.5, in: dated, bodyTime: nil) == .milliseconds(1500))
    }

    /// A key that was accepted for later waits in the boot in which it was, and a day at most. If the kernel does not
    /// identify the boot, nothing can tell which one it is.
    @Test func aKeyWaitsInItsOwnBoot() throws {
        var record = try RecordShape.rotateAccepted.record()
        func acceptance(_ milliseconds: Int64, _ boot: String) -> IdentityRecord.Acceptance {
            record.acceptance(at: BootMoment(milliseconds: milliseconds, boot: boot))
        }
        #expect(acceptance(499_999, "boot-1") == .waits && acceptance(500_000, "boot-1") == .over)
        #expect(acceptance(499_999, "boot-2") == .unknown)
        #expect(acceptance(500_000 - 86_400_000, "boot-1") == .waits)
        #expect(acceptance(500_000 - 86_400_001, "boot-1") == .unknown)
        try record.accept(effectiveAt: 1_700_000_500, from: BootMoment(milliseconds: 500_000, boot: ""))
        #expect(acceptance(499_999, "") == .unknown && acceptance(500_000, "") == .unknown)
    }
}
