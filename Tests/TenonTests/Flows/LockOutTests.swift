// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Synchronization
import Tenon
import Testing

/// The answer to a rotation is lost, at services that do or do not rotate a key to itself: the device signs with the
/// key that the service holds, or finds it as soon as the service refuses the old one.
@Suite struct LockOutTests {
    struct Manner: Sendable, CustomStringConvertible {
        /// The answer to a key that asks to be rotated to itself; nil if the service does that.
        let status: Int?
        let code: String?
        /// Whether it answers so before it checks the signature.
        let isUnseen: Bool

        var description: String { "\(status.map { "\($0)" } ?? "done") \(code ?? "-")\(isUnseen ? " unseen" : "")" }
    }

    static let manners: [Manner] =
        [Manner(status: nil, code: nil, isUnseen: false)]
        + [(400, nil), (400, "MALFORMED"), (409, "ROTATION_FAILED"), (409, nil), (500, nil)].flatMap { status, code in
            [false, true].map { Manner(status: status, code: code, isUnseen: $0) }
        }

    static func rig(_ settlements: [Settlement], _ manner: Manner) async throws -> FlowRig {
        let rig = try await FlowRig.registered { $0.settlements = settlements }
        rig.service.change { state in
            state.refusesSelfRotation = manner.status.map { ($0, manner.code) }
            state.refusesUnseen = manner.isUnseen
        }
        return rig
    }

    /// A rotation whose answers are all lost.
    private func lost(_ settlements: [Settlement], _ manner: Manner) async throws -> FlowRig {
        let rig = try await Self.rig(settlements, manner)
        await rig.rotate(.answerLost)
        return rig
    }

    /// An application is refused, tells the identity, and sends the new request that it gets.
    private func send(_ rig: FlowRig) async throws -> Bool {
        let identity = try rig.restarted()
        let signed = try await identity.sign("POST", path: "/x", body: [1])
        if rig.isAccepted(signed) { return true }
        return await identity.received(401, "BAD_SIGNATURE", for: signed).again.map { rig.isAccepted($0) } ?? false
    }

    /// What the service holds signs from now on.
    private func expectFound(_ rig: FlowRig) async throws {
        #expect(rig.isAccepted(try await rig.restarted().sign("POST", path: "/x", body: [1])))
        #expect(rig.vault.keysMade == 2)
    }

    /// The service knows the key that signs, and the former one no more.
    @Test func aRevocationIsConfirmedByTheKeyThatSigns() async throws {
        let rig = try await lost([.resend, .selfRotation], Self.manners[1])
        #expect(try await send(rig))
        #expect(try rig.record().signsByNext)
        rig.service.change { $0.devices["device-1"]?.isRevoked = true }
        #expect(try await rig.restarted().code(.resolve) == .deviceRevoked)
        let (last, key) = (try #require(rig.service.seen.last), rig.service.devices["device-1"]?.key ?? "")
        #expect(rig.service.state.withLock { $0.isSigned(last, "/rotate", by: key) })
    }

    @Test(arguments: RotationTests.settlements, manners)
    func anApplicationThatIsRefusedFindsTheKey(_ settlements: [Settlement], _ manner: Manner) async throws {
        let rig = try await lost(settlements, manner)
        #expect(try await send(rig), "the live key is on the disk, and the dead one signs")
        try await expectFound(rig)
    }

    @Test(arguments: RotationTests.settlements, manners)
    func theNextCallFindsTheKey(_ settlements: [Settlement], _ manner: Manner) async throws {
        for verb in [Verb.maintain, .rotate] {
            // A service that says without checking that the key is there already does not refuse the signature of a
            // rotation: the next question does.
            guard verb == .maintain || !manner.isUnseen || settlements.first == .ask else { continue }
            let rig = try await lost(settlements, manner)
            _ = try await rig.restarted().code(verb)
            try await expectFound(rig)
        }
    }

    /// The service denied a rotation that it carried out.
    @Test(arguments: RotationTests.settlements, manners)
    func aRefusalOfWhatWasDone(_ settlements: [Settlement], _ manner: Manner) async throws {
        let rig = try await Self.rig(settlements, manner)
        rig.service.script(.denied(409, "ROTATION_FAILED"))
        _ = try? await rig.identity.rotate()
        #expect(try await send(rig))
        try await expectFound(rig)
    }

    /// A bare 401 is a reason to ask if something is open; a success is not.
    @Test(arguments: RotationTests.settlements)
    func aPlainRefusalSettlesWhatIsOpen(_ settlements: [Settlement]) async throws {
        let rig = try await lost(settlements, Self.manners[0])
        let signed = try await rig.identity.sign("POST", path: "/x", body: [1])
        let asked = rig.service.paths.count
        #expect(await rig.answer(signed, 200, "").isDone)
        #expect(rig.service.paths.count == asked && signed.generation == 1)
        let plain = await rig.identity.received(status: 401, headers: [], body: [], for: signed)
        #expect(rig.isAccepted(try #require(plain.again)))
    }

    /// The report says what was observed: the service refused the one key and did not confirm the other.
    @Test(arguments: manners.filter { $0.status == 400 && !$0.isUnseen })
    func whatIsOpenIsSaid(_ manner: Manner) async throws {
        let rig = try await lost([.resend, .selfRotation], manner)
        #expect(try await rig.restarted().maintain() == .rotationOpen(newKeySigns: true))
        let identity = try rig.restarted()
        #expect(await refusal { try await identity.rotate() } == .rotationOpen)
        let record = try rig.record()
        #expect(record.signsByNext && record.journal != nil && record.keys.map(\.generation) == [1, 2])
        #expect(try rig.identity.status().reason == .rotationPending && rig.identity.isRegistered)
        // The service learns to confirm it.
        rig.service.change { $0.refusesSelfRotation = nil }
        #expect(try await rig.restarted().maintain() == .done)
        #expect(try rig.record().journal == nil && !rig.record().signsByNext)
    }

    @Test(arguments: RotationTests.settlements)
    func maintenanceSaysWhatIsLeft(_ settlements: [Settlement]) async throws {
        let fresh = try FlowRig { $0.settlements = settlements }
        #expect(try await fresh.identity.maintain() == .stopped)
        let rig = try await FlowRig.registered { $0.settlements = settlements }
        #expect(try await rig.identity.maintain() == .done)
        rig.service.script(.answers(409, "ROTATION_FAILED"))
        _ = try? await rig.identity.rotate()
        // The service holds the old key, and a delayed message might still bring the other one.
        #expect(try await rig.identity.maintain() == .rotationOpen(newKeySigns: false))
        #expect(rig.isAccepted(try await rig.identity.sign("POST", path: "/x", body: [1])))
        // Nothing reached the service: the open rotation is ended.
        let other = try await FlowRig.registered { $0.settlements = settlements }
        await other.rotate(.requestLost)
        #expect(try await other.identity.maintain() == .done)
        #expect(try other.record().key(.current)?.generation == 2)
    }

    /// The old key was refused by mistake, and the service still holds it: the other one signs, is refused, and the
    /// device returns to the old one.
    @Test(arguments: RotationTests.settlements, manners)
    func aRefusalByMistakeIsTakenBack(_ settlements: [Settlement], _ manner: Manner) async throws {
        let rig = try await Self.rig(settlements, manner)
        rig.service.change { $0.fates = [.answers(401, "BAD_SIGNATURE")] + Array(repeating: .requestLost, count: 9) }
        _ = try? await rig.identity.rotate()
        #expect(try rig.record().journal != nil)
        #expect(try await rig.identity.sign("GET", path: "/").generation == 2)
        rig.service.change { $0.fates = [] }
        #expect(try await send(rig))
        try await expectFound(rig)
        try await rig.expectNotLost()
    }

    /// Both are refused twice, an hour apart; the old one signs until then, and the device finds the key that the
    /// service holds again.
    @Test(arguments: manners.filter { !$0.isUnseen }, [false, true])
    func whatWasSupersededMayComeBack(_ manner: Manner, _ isNew: Bool) async throws {
        for settlements in RotationTests.settlements { try await supersede(settlements, manner, isNew) }
    }

    private func supersede(_ settlements: [Settlement], _ manner: Manner, _ isNew: Bool) async throws {
        let rig = try await lost(settlements, manner)
        let devices = rig.service.devices
        rig.service.change { $0.devices["device-1"]?.key = "" }
        for _ in 0..<2 {
            #expect(await refusal { try await rig.restarted().maintain() } == .keyRefused)
            #expect(try await rig.restarted().sign("GET", path: "/").generation == 1)
            rig.time.advance(.seconds(1700))
        }
        rig.time.advance(.seconds(600))
        _ = try? await rig.restarted().maintain()
        #expect(try rig.identity.status().reason == .superseded && rig.record().keys.count == 2)
        #expect(try await rig.restarted().maintain() == .stopped)
        rig.service.change { state in
            state.devices = devices
            if !isNew, let old = devices["device-1"]?.retired.first { state.devices["device-1"]?.key = old }
        }
        // A service that rotates no key to itself says nothing about the new key, and `register` has no other way to
        // ask.
        if isNew, manner.status != nil, settlements.first == .resend {
            _ = try? await rig.restarted().maintain()
            #expect(try rig.record().keys.count == 2)
            return
        }
        _ = try await rig.restarted().maintain()
        try await expectFound(rig)
        #expect(rig.service.devices.count == 1)
    }
}
