// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

@Suite struct RecordStepsTests {
    private func change(
        _ shape: RecordShape, _ body: (inout IdentityRecord) throws -> Void
    ) throws -> (IdentityRecord, TenonError.Code?) {
        var record = try shape.record()
        let code = codeThrown { try body(&record) }
        // Every step leaves a valid record.
        #expect(throws: Never.self) { try RecordFile.encode(record) }
        return (record, code)
    }

    /// Where a key was offered to a service that holds another one.
    static let offering: Set<RecordShape> = [
        .rotateSent, .rotateUnknown, .rotateAccepted, .rotateRefused, .rotateTried, .revokedWhileRotating, .revived,
    ]

    /// Where a message about a first key is made or sent, and where one about the next key is.
    static let registering: Set<RecordShape> = [
        .registerPrepared, .registerSent, .registerUnknown, .registerPending, .slotPrepared, .slotSent, .logPrepared,
        .logSent,
    ]
    static let rotating = offering.subtracting([.rotateRefused]).union([
        .rotatePrepared, .slotRotating, .clearedWhileRotating,
    ])
    static let registered = Set(
        RecordShape.allCases.filter { shape in
            let state = try? shape.record().state
            return state == .registered || state == .keyInvalid
        })

    /// The shapes in which each step is allowed; in all others it throws and changes nothing.
    static let steps: [(String, Set<RecordShape>, TenonError.Code, @Sendable (inout IdentityRecord) throws -> Void)] = [
        ("mark sent", registering.union(rotating), .keyGeneration, { try $0.markSent() }),
        ("await approval", registering, .keyGeneration, { try $0.awaitApproval() }),
        ("accept", rotating, .keyGeneration, { try $0.accept(effectiveAt: 1, from: RecordShape.moment(1)) }),
        ("try the next", offering, .keyGeneration, { try $0.tryNext() }),
        ("forget the time", offering, .keyGeneration, { try $0.forgetEffectiveTime() }),
        ("reject", [.registerUnknown, .registerPending], .keyGeneration, { try $0.reject() }),
        ("promote", offering, .keyGeneration, { try $0.promote(at: 7) }),
        ("revoke", registered, .invalidStateTransition, { try $0.revoke() }),
        (
            "wipe", [.cleared, .clearedWhileRotating, .superseded], .invalidStateTransition,
            {
                // Another machine's identity continues only under another local id, which the next step sets.
                if $0.cause == .foreignTPM { throw TenonError(.invalidStateTransition, message: "") }
                try $0.wipe()
            }
        ),
        ("revive", [.cleared, .clearedWhileRotating, .foreign], .invalidStateTransition, { try $0.revive() }),
        ("reset", Set(RecordShape.allCases), .keyGeneration, { try $0.reset(deviceLocalID: RecordShape.otherLocal) }),
    ]

    @Test(arguments: steps.indices)
    func stepsAreTakenWhereTheyBelong(_ index: Int) throws {
        let (name, allowed, refusal, step) = Self.steps[index]
        for shape in RecordShape.allCases {
            let before = try shape.record()
            var record = before
            do {
                try step(&record)
                #expect(allowed.contains(shape), "\(name) in \(shape)")
                _ = record
            } catch let error as TenonError {
                #expect(!allowed.contains(shape), "\(name) in \(shape): \(error)")
                #expect(error.code == refusal, "\(name) in \(shape)")
                #expect(record == before, "\(name) in \(shape)")
            }
        }
    }

    // Only a rejection or a reset drops a key whose public half was sent (decision: one-offered-key).
    @Test func anOfferedKeyIsNotDropped() throws {
        var dropped: Set<String> = []
        for shape in RecordShape.allCases {
            for key in try shape.record().keys {
                let (record, code) = try change(shape) { try $0.drop(key.generation) }
                #expect(code == nil || code == .keyGeneration)
                #expect((code == nil) == (record.keys.count < (try shape.record().keys.count)))
                if code == nil {
                    #expect(!key.isOffered || key.role == .previous, "\(shape)")
                    dropped.insert("\(shape) \(key.role)")
                }
            }
        }
        #expect(dropped == ["abandoned current", "promoted previous"])
        #expect(try change(.fresh) { try $0.drop(1) }.1 == .keyGeneration)
    }

    /// What a message is bound to is never dropped, and no second message is bound to another key.
    @Test func aCommittedKeyStays() throws {
        for shape in [RecordShape.logSent, .logged] {
            let next = try #require(try shape.record().key(.next))
            #expect(next.isCommitted && !next.isOffered)
            #expect(try change(shape) { try $0.drop(2) }.1 == .keyGeneration)
        }
        #expect(try RecordShape.logPrepared.record().key(.next)?.isCommitted == false)
        #expect(try RecordShape.logged.record().reason == nil)
        let (rotating, code) = try change(.logged) { record in
            try record.add(RecordShape.facts(3), as: .following, generation: 3, isHardware: true)
            try record.begin(.rotate(from: 1, to: 2, committing: 3, message: [8], resend: .identical, slot: 1))
            try record.markSent()
        }
        #expect(code == nil && rotating.key(.following)?.isCommitted == true && rotating.reason == .rotationPending)
        for other in [nil, 2] {
            let (_, code) = try change(.logSent) { record in
                try record.begin(.register(1, committing: other, message: [9], resend: .identical, slot: 0))
            }
            #expect(code == (other == nil ? .operationInFlight : nil))
        }
        let (_, strange) = try change(.logged) { record in
            try record.begin(.rotate(from: 1, to: 2, committing: 9, message: [8], resend: .identical, slot: 1))
        }
        #expect(strange == .keyGeneration)
    }

    @Test func oneKeyOfEachRoleAndNoNumberTwice() throws {
        for (shape, role, generation, expected): (RecordShape, KeyRole, Int, TenonError.Code?) in [
            (.challenged, .current, 1, nil), (.challenged, .current, 0, .keyGeneration),
            (.challenged, .current, -1, .keyGeneration), (.keyReady, .current, 2, .keyGeneration),
            (.registered, .next, 2, nil), (.registered, .next, 1, .keyGeneration),
            (.rotateUnknown, .next, 3, .keyGeneration), (.rotateRefused, .next, 3, .keyGeneration),
            (.promoted, .next, 2, .keyGeneration), (.promoted, .next, 3, nil), (.wiped, .current, 1, .keyGeneration),
            (.wiped, .current, 2, nil), (.reset, .current, 2, .keyGeneration), (.reset, .current, 3, nil),
        ] {
            let code = try change(shape) { record in
                try record.add(RecordShape.facts(9), as: role, generation: generation, isHardware: true)
            }.1
            #expect(code == expected, "\(shape) \(role) \(generation)")
        }
    }

    @Test func oneOperationAtATimeAndItsMessageBeforeItLeaves() throws {
        let register = Journal.register(1, message: [7])
        let rotate = Journal.rotate(from: 1, to: 2, message: [7])
        for (shape, journal, expected): (RecordShape, Journal, TenonError.Code?) in [
            (.fresh, register, .keyGeneration), (.keyReady, register, nil), (.keyReady, rotate, .keyGeneration),
            (.keyReady, .register(2, message: []), .keyGeneration), (.registerUnknown, register, nil),
            (.registerUnknown, rotate, .operationInFlight), (.registerPending, register, nil),
            (.registered, rotate, .keyGeneration), (.rotateUnknown, rotate, nil),
            (.rotateUnknown, .rotate(from: 1, to: 3, message: []), .operationInFlight),
            (.rotateUnknown, register, .operationInFlight), (.rotateRefused, rotate, nil),
            (.rotateRefused, .rotate(from: 2, to: 1, message: []), .keyGeneration), (.promoted, rotate, .keyGeneration),
        ] {
            let (record, code) = try change(shape) { try $0.begin(journal) }
            #expect(code == expected, "\(shape)")
            if code == nil {
                #expect(record.journal?.message == [7])
                // The sent message is still under way.
                let wasSent = try shape.record().journal?.phase == .sent
                #expect(record.journal?.phase == (wasSent ? .sent : .prepared))
            }
        }
    }

    // Decision: one-message. Two signed events with one sequence number poison an identity for ever.
    @Test func thereIsOneMessageForASlot() throws {
        func register(_ message: [UInt8], _ slot: Int64?, _ resend: Journal.Resend = .identical) -> Journal {
            .register(1, message: message, resend: resend, slot: slot)
        }
        for (journal, expected): (Journal, TenonError.Code?) in [
            (register([9], 0), nil), (register([8], 0), .slotTaken), (register([9], 1), .slotTaken),
            (register([9], nil), .slotTaken), (register([9], 0, .fresh), .operationInFlight),
        ] {
            for shape in [RecordShape.slotPrepared, .slotSent] {
                #expect(try change(shape) { try $0.begin(journal) }.1 == expected)
            }
        }
        // Neither is the slot free when the operation is settled.
        for slot in [Int64(-1), 0, 1] {
            let (_, code) = try change(.slotRotating) { record in
                try record.move(to: .registered)
                record.settle()
                try record.begin(.rotate(from: 1, to: 2, message: [6], resend: .identical, slot: slot))
            }
            #expect(code == .slotTaken)
        }
        #expect(try RecordShape.slotRotating.record().lastSlot == 1)
    }

    @Test(arguments: ["reject", "reset", "wipe"])
    func anotherKeyBeginsAnotherOrder(_ end: String) throws {
        let (record, code) = try change(.slotSent) { record in
            try letGo(&record, end)
            try record.add(RecordShape.facts(2), as: .current, generation: 2, isHardware: true)
            try record.begin(.register(2, message: [3], resend: .identical, slot: 0))
        }
        #expect(code == nil && record.lastSlot == 0)
    }

    private func letGo(_ record: inout IdentityRecord, _ end: String) throws(TenonError) {
        switch end {
        case "reject":
            try record.move(to: .unregistered)
            try record.reject()
        case "wipe":
            try record.move(to: .registered)
            record.settle()
            try record.move(to: .keyInvalid, because: .superseded)
            try record.wipe()
        default: try record.reset(deviceLocalID: RecordShape.otherLocal)
        }
    }

    @Test func aPromotionIsOneValue() throws {
        let record = try RecordShape.promoted.record()
        #expect(record.key(.current)?.generation == 2 && record.key(.previous)?.generation == 1)
        #expect(record.key(.next) == nil && record.journal == nil && record.keyRotatedAt == 1_700_000_600)
        #expect(try RecordShape.retired.record().keys.map(\.generation) == [2])
        // A second one drops the first of three.
        let (again, code) = try change(.promoted) { record in
            try record.add(RecordShape.facts(3), as: .next, generation: 3, isHardware: true)
            try record.begin(.rotate(from: 2, to: 3, message: []))
            try record.markSent()
            try record.promote(at: 8)
        }
        #expect(code == nil && again.key(.current)?.generation == 3 && again.keys.count == 2)
        // This also ends the state in which all keys were refused.
        let (held, _) = try change(.rotateRefused) { try $0.promote(at: 9) }
        #expect(held.refusedAt == nil && held.key(.current)?.generation == 2)
    }

    /// A key is tried only while the identity is registered, and only until something is settled.
    @Test func whatEndsATrial() throws {
        let tried = try RecordShape.rotateTried.record()
        #expect(tried.signsByNext && tried.keys.count == 2 && tried.journal != nil)
        let ends: [(String, @Sendable (inout IdentityRecord) throws -> Void)] = [
            ("promote", { try $0.promote(at: 7) }), ("lose", { try $0.invalidate(because: .superseded) }),
            ("reset", { try $0.reset(deviceLocalID: RecordShape.otherLocal) }),
            ("accept", { try $0.accept(effectiveAt: 1, from: RecordShape.moment(1)) }),
            ("resolve", { try $0.resolve(to: 1, among: $0.keys) }),
        ]
        for (name, step) in ends {
            var record = tried
            try step(&record)
            #expect(!record.signsByNext, "\(name)")
            _ = try RecordFile.encode(record)
        }
        var registering = tried
        try registering.move(to: .registering)
        #expect(registering.signsByNext)
    }

    @Test func whatARejectionLeaves() throws {
        #expect(try RecordShape.rejected.record().keys.isEmpty)
        // The other one of two keys is left, and is offered next.
        let (record, code) = try change(.abandoned) { record in
            try record.add(RecordShape.facts(2), as: .next, generation: 2, isHardware: true)
            try record.begin(.register(1, message: []))
            try record.markSent()
            try record.reject()
        }
        #expect(code == nil && record.keys.map(\.generation) == [2] && record.key(.current)?.isOffered == false)
    }

    @Test func whatAWipeAndAResetLeave() throws {
        let wiped = try RecordShape.wiped.record()
        var expected = try RecordShape.fresh.record()
        #expect(wiped.deviceLocalID == RecordShape.local && wiped.lastGeneration == 1)
        #expect(wiped.keys.isEmpty && wiped.attestationKey == nil && wiped.deviceID == nil)
        // W17: it is the same machine, so it keeps its local id.
        #expect(try wiped.ekID == Digest(hashing: [1]))
        let reset = try RecordShape.reset.record()
        #expect(reset.deviceLocalID == RecordShape.otherLocal && reset.lastGeneration == 2 && reset.journal == nil)
        expected.deviceLocalID = RecordShape.otherLocal
        #expect(try RecordFile.encode(reset).count == RecordFile.encode(expected).count)
        let (again, _) = try change(.rotateRefused) { try $0.reset(deviceLocalID: RecordShape.otherLocal) }
        #expect(again.state == .unregistered && again.refusedAt == nil)
        // A golden image must not merge with its copies (decision: other-machine).
        for local in [nil, RecordShape.local] {
            let (record, code) = try change(.foreign) { try $0.wipe(deviceLocalID: local) }
            #expect(code == .deviceID && record.state == .keyInvalid && record.keys.count == 1)
        }
        #expect(
            try change(.foreign) { try $0.wipe(deviceLocalID: RecordShape.otherLocal) }.0.state == .unregistered)
    }

    @Test func onlyTheSameEndorsementKeySaysThatTheTPMWasCleared() throws {
        let (same, other) = (try Digest(hashing: [1]), try Digest(hashing: [2]))
        let record = try RecordShape.registered.record()
        #expect(record.causeOfLoss(ekID: same) == .tpmCleared)
        #expect(record.causeOfLoss(ekID: other) == .foreignTPM)
        #expect(record.causeOfLoss(ekID: nil) == .foreignTPM)
        #expect(try RecordShape.keyReady.record().causeOfLoss(ekID: nil) == .foreignTPM)
        #expect(try RecordShape.keyReady.record().causeOfLoss(ekID: same) == .foreignTPM)
    }

    /// With its TPM back, an identity is as it was, byte for byte.
    @Test(arguments: [
        RecordShape.registered, .rotateUnknown, .rotateAccepted, .rotateRefused, .rotateTried, .promoted, .retired,
    ])
    func aKeyThatIsBackChangesNothing(_ shape: RecordShape) throws {
        let before = try shape.record()
        for cause in [IdentityReason.tpmCleared, .foreignTPM] {
            var record = before
            try record.invalidate(because: cause)
            #expect(record.abandonedKey == before.key(before.signsByNext ? .next : .current))
            #expect(try RecordFile.decode(RecordFile.encode(record)) == record)
            try record.revive()
            #expect(record == before)
        }
        var other = before
        try other.invalidate(because: .superseded)
        #expect(other.abandonedKey == nil)
    }

    // Decision: dialect-kept
    @Test func theDialectIsTheOneOfTheRegistration() throws {
        let record = try RecordShape.registered.record()
        #expect(codeThrown { try record.check(dialect: "docs") } == nil)
        #expect(codeThrown { try record.check(dialect: "tenon") } == .dialectChanged)
        var fresh = record
        #expect(codeThrown { try fresh.take(dialect: "tenon") } == .dialectChanged)
        try fresh.reset(deviceLocalID: RecordShape.otherLocal)
        try fresh.take(dialect: "tenon")
        #expect(fresh.dialect == "tenon")
    }

    @Test func theOffsetOfTheClockHoldsUntilTheClockIsSet() {
        let offset = ClockOffset(milliseconds: 5, learntAt: 7, wallLessBoot: 1_000_000, boot: "a")
        for (now, boot, holds): (Int64, String, Bool) in [
            (1_000_000, "a", true), (1_001_000, "a", true), (999_000, "a", true), (1_001_001, "a", false),
            (998_999, "a", false), (0, "b", true), (.min, "a", false), (.max, "a", false),
        ] {
            #expect(offset.holds(at: 7, wallLessBoot: now, boot: boot) == holds)
        }
        let odd = ClockOffset(milliseconds: 5, learntAt: 7, wallLessBoot: .max, boot: "a")
        #expect(!odd.holds(at: 7, wallLessBoot: .min, boot: "a"))
    }

    /// W18: it expires, in this boot and in any other.
    @Test(arguments: ["a", "b"])
    func w18_theOffsetOfTheClockHoldsForADay(_ boot: String) {
        let learnt: Int64 = 1_800_000_000_000
        let offset = ClockOffset(milliseconds: 5, learntAt: learnt, wallLessBoot: 0, boot: "a")
        for (age, holds): (Int64, Bool) in [
            (0, true), (86_400_000, true), (86_400_001, false), (-1000, true), (-1001, false),
        ] {
            #expect(offset.holds(at: learnt + age, wallLessBoot: 0, boot: boot) == holds)
        }
        for wall in [Int64.min, .max] { #expect(!offset.holds(at: wall, wallLessBoot: 0, boot: boot)) }
    }

    /// A registration that was sent, and a TPM that is another one now (decision: other-machine): nothing is forgotten
    /// but when it is begun anew.
    @Test(arguments: [RecordShape.registerSent, .registerUnknown, .registerPending, .slotSent])
    func anOfferedKeyThatIsLostIsInvalid(_ shape: RecordShape) throws {
        let before = try shape.record()
        var record = before
        try record.invalidate(because: .tpmCleared)
        #expect(record.state == .keyInvalid && record.keys == before.keys && record.journal == before.journal)
        #expect(try RecordFile.decode(RecordFile.encode(record)) == record)
        var back = record
        try back.revive()
        #expect(back.state == .unregistered && back.keys == before.keys && back.journal == before.journal)
        try record.wipe()
        #expect(record.keys.isEmpty && record.journal == nil)
    }

    // Decision: other-machine
    @Test func theLocalIDIsOfOneMachine() throws {
        let (here, elsewhere) = (try Digest(hashing: [1]), try Digest(hashing: [2]))
        for (before, now, isKept) in [
            (here, here, true), (here, elsewhere, false), (here, nil, false), (nil, here, false), (nil, nil, false),
        ] as [(Digest?, Digest?, Bool)] {
            var record = try RecordShape.fresh.record()
            record.ekID = before
            record.place(in: now, deviceLocalID: RecordShape.otherLocal)
            #expect((record.deviceLocalID == RecordShape.local) == isKept)
            #expect(record.ekID == now)
        }
    }

    @Test func aMomentSaysSomethingInItsOwnBoot() {
        let moment = BootMoment(milliseconds: 1000, boot: "a")
        #expect(moment.since(BootMoment(milliseconds: 400, boot: "a")) == .milliseconds(600))
        #expect(moment.since(moment) == .zero)
        for (time, boot): (Int64, String) in [(1001, "a"), (400, "b"), (.min, "a")] {
            #expect(moment.since(BootMoment(milliseconds: time, boot: boot)) == nil)
        }
    }
}
