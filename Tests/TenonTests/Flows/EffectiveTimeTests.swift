// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Tenon
import Testing

/// After an accepted rotation, the device signs with the key that the service holds, whatever this device's clock
/// shows.
@Suite struct EffectiveTimeTests {
    /// Where the answer has the time: in its head, in its body, in both, or nowhere.
    enum Telling: CaseIterable, Sendable {
        case date, body, both, none
    }

    /// The milliseconds by which the service's clock is ahead.
    static let offsets: [Int64] =
        Array(stride(from: -300, through: 300, by: 50)).map { $0 * 1000 }
        + [-3000, -2000, -1500, -1000, -999, -500, -250, -1, 1, 250, 500, 999, 1000, 1500, 2000, 3000]

    private func rig(
        _ settlements: [Settlement], _ offset: Int64, _ telling: Telling, effectiveIn: Int64?
    ) async throws -> FlowRig {
        let rig = try await FlowRig.registered(.tokens) { $0.settlements = settlements }
        set(rig, offset, telling, effectiveIn: effectiveIn)
        return rig
    }

    private func set(_ rig: FlowRig, _ offset: Int64, _ telling: Telling, effectiveIn: Int64?) {
        rig.service.change { state in
            (state.skew, state.skewMilliseconds) = (offset / 1000, offset % 1000)
            state.effectiveIn = effectiveIn
            state.saysDate = telling == .date || telling == .both
            state.saysTime = telling == .body || telling == .both
        }
    }

    /// A clock of whole seconds may be up to a second behind.
    @Test(arguments: RotationTests.settlements, Telling.allCases)
    func theKeyThatTheServiceHoldsSigns(_ settlements: [Settlement], _ telling: Telling) async throws {
        var refused: [String] = []
        let rig = try await rig(settlements, 0, telling, effectiveIn: nil)
        rig.time.setWall(by: .milliseconds(337))
        var generation = 1
        for offset in Self.offsets {
            for effectiveIn: Int64? in [nil, -1, 0, 1] {
                set(rig, offset, telling, effectiveIn: effectiveIn)
                let rotation = try await rig.identity.rotate()
                generation += 1
                let signed = try await rig.restarted().sign("POST", path: "/x", body: [1])
                if signed.generation != generation || !rig.isAccepted(signed) || rotation.effectiveAt != nil {
                    refused.append("\(offset) ms, effective in \(effectiveIn.map { "\($0)" } ?? "-")")
                    try await rig.expectNotLost()
                }
            }
        }
        #expect(refused == [], "requests are refused after the rotation")
    }

    /// The wait for a later time uses the boot clock.
    @Test(arguments: RotationTests.settlements, [-300_000, -1500, 0, 700, 250_000] as [Int64])
    func aLaterTimeIsWaitedForOnTheBootClock(_ settlements: [Settlement], _ offset: Int64) async throws {
        let rig = try await rig(settlements, offset, .date, effectiveIn: 120)
        #expect(try await rig.identity.rotate().effectiveAt != nil)
        // Setting the wall clock back and forth does not affect it.
        for seconds: Int64 in [0, 100_000, -200_000, 100_000] {
            rig.time.setWall(by: .seconds(seconds))
            #expect(try await rig.restarted().sign("GET", path: "/").generation == 1)
        }
        rig.time.advance(.seconds(119))
        rig.time.setWall(by: .seconds(90_000))
        #expect(try await rig.restarted().sign("GET", path: "/").generation == 1)
        rig.time.setWall(by: .seconds(-180_000))
        rig.time.advance(.seconds(1))
        #expect(try await rig.restarted().sign("GET", path: "/").generation == 2)
        rig.time.setWall(by: .seconds(90_000))
        try await rig.restarted().maintain()
        #expect(try rig.record().key(.current)?.generation == 2)
        #expect(try rig.record().journal == nil)
    }

    /// If the answer has no time, there is nothing to compare with.
    @Test(arguments: [2, 120, 80_000] as [Int64])
    func withoutATimeOfTheAnswerItIsNow(_ seconds: Int64) async throws {
        let rig = try await rig([.ask, .resend], 0, .none, effectiveIn: seconds)
        #expect(try await rig.identity.rotate().effectiveAt == nil)
        #expect(try await rig.restarted().sign("GET", path: "/").generation == 2)
    }

    /// A key that counts from a later time on the service's clock, and a device that restarts meanwhile.
    private func waiting(_ settlements: [Settlement]) async throws -> FlowRig {
        let rig = try await FlowRig.registered { $0.settlements = settlements }
        rig.service.change { $0.effectiveIn = 600 }
        #expect(try await rig.identity.rotate().effectiveAt != nil)
        #expect(try await rig.identity.maintain() == .waits(until: rig.time.seconds + 600))
        #expect(rig.service.paths == ["/rotate"])
        return rig
    }

    /// How long the machine was off is unknown: the device tries the new key, which will be right, and asks the
    /// service.
    @Test(arguments: RotationTests.settlements)
    func afterABootTheServiceIsAsked(_ settlements: [Settlement]) async throws {
        let rig = try await waiting(settlements)
        rig.time.reboot(after: .seconds(30))
        #expect(try await rig.restarted().sign("GET", path: "/").generation == 2)
        #expect(try rig.identity.status().reason == .rotationPending)
        #expect(try await rig.restarted().maintain() == .done)
        #expect(try rig.record().key(.current)?.generation == 2 && rig.record().journal == nil)
        try await rig.expectNotLost()
    }

    /// The same at a service that does not hold the key yet; its refusal shows that.
    @Test(arguments: RotationTests.settlements)
    func aKeyThatDoesNotCountYetIsLetWait(_ settlements: [Settlement]) async throws {
        let rig = try await waiting(settlements)
        let after = rig.service.devices
        let old = try #require(after["device-1"]?.retired.first)
        rig.service.change { $0.devices["device-1"]?.key = old }
        rig.time.reboot(after: .seconds(30))
        let identity = try rig.restarted()
        let signed = try await identity.sign("POST", path: "/x", body: [1])
        rig.service.change { $0.fates = [.arrives] + Array(repeating: .requestLost, count: 5) }
        let second = await identity.received(401, "BAD_SIGNATURE", for: signed)
        #expect(signed.generation == 2 && second.again?.generation == 1)
        // From now on, the key counts.
        rig.service.change { $0.fates = [] }
        rig.service.change { $0.devices = after }
        try await rig.expectNotLost()
        #expect(rig.vault.keysMade == 2)
    }

    /// A record of version 1 has no time on the boot clock.
    @Test(arguments: RotationTests.settlements)
    func aRecordOfVersion1IsSettled(_ settlements: [Settlement]) async throws {
        let rig = try await waiting(settlements)
        let record = try rig.record()
        try rig.folder.put(RecordFile.encode(record, version: 1), as: record.name.record)
        #expect(try rig.record().journal?.effectiveAt != nil && rig.record().journal?.effectiveFrom == nil)
        #expect(rig.isAccepted(try await rig.restarted().sign("POST", path: "/x", body: [1])))
        #expect(try await rig.restarted().maintain() == .done)
        #expect(try rig.record().key(.current)?.generation == 2)
        try await rig.expectNotLost()
    }

    /// An application that is refused while a key waits: the service is asked, and it may have moved already.
    @Test(arguments: RotationTests.settlements)
    func aServiceThatMovedEarlierIsFound(_ settlements: [Settlement]) async throws {
        let rig = try await waiting(settlements)
        let signed = try await rig.identity.sign("POST", path: "/x", body: [1])
        #expect(signed.generation == 1 && !rig.isAccepted(signed))
        let second = try #require(await rig.answer(signed, 401, "BAD_SIGNATURE").again)
        #expect(rig.isAccepted(second))
    }
}
