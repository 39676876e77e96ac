// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Tenon
import Testing

/// Rotation: the faults that lose identities elsewhere (W1 to W3, W17, W23; decision: one-offered-key, own-endpoints,
/// dialect-kept).
@Suite struct RotationTests {
    /// Services that say which key they hold, and services where only repeating the request shows it.
    static let settlements: [[Settlement]] = [[.ask, .resend], [.resend, .selfRotation]]

    @Test(arguments: settlements)
    func theNewKeySignsAfterwards(_ settlements: [Settlement]) async throws {
        let rig = try await FlowRig.registered { $0.settlements = settlements }
        let old = try await rig.identity.sign("POST", path: "/x")
        try await rig.identity.rotate()
        let new = try await rig.identity.sign("POST", path: "/x")
        #expect(new.generation == old.generation + 1)
        #expect(rig.isAccepted(new))
        #expect(!rig.isAccepted(old))
        #expect(rig.service.paths == ["/rotate"])
        let record = try rig.record()
        #expect(record.journal == nil)
        #expect(record.keyRotatedAt == rig.time.seconds)
        #expect(record.key(.previous)?.generation == old.generation)
    }

    @Test func aNewKeyOfAnAttestedDeviceIsCertified() async throws {
        let rig = try await FlowRig.registered()
        try await rig.identity.rotate()
        let key = try #require(rig.service.devices["device-1"]?.key)
        let nonce = try Digest(hashing: Array((String(rig.time.seconds) + key).utf8)).rawRepresentation
        #expect(rig.vault.proofs.last == nonce)
        #expect(rig.vault.attestationKeysMade == 1)
    }

    /// W1: whatever is lost, however often, and even if the process dies in between, the device is not locked out and
    /// never offers more than one key.
    @Test(arguments: settlements, RegistrationTests.faults)
    func w1_aLostOutcomeLosesNoIdentity(_ settlements: [Settlement], _ fault: ScriptedService.Fate) async throws {
        for count in 1...7 {
            let rig = try await FlowRig.registered { $0.settlements = settlements }
            rig.service.change { $0.fates = Array(repeating: fault, count: count) }
            _ = try? await rig.identity.rotate()
            let signed = try await rig.identity.sign("GET", path: "/x")
            #expect(signed.generation == (try rig.record().key(.current)?.generation))
            try await rig.expectNotLost()
            #expect(rig.vault.keysMade == 2)
            #expect(rig.identity.isRegistered)
        }
    }

    /// The first try commits, its answer is lost, and the second is refused as the old key is not current any more.
    @Test(arguments: settlements)
    func w1_aRetryThatIsRefusedDoesNotDropTheNewKey(_ settlements: [Settlement]) async throws {
        let rig = try await FlowRig.registered { $0.settlements = settlements }
        rig.service.script(.answerLost)
        try await rig.identity.rotate()
        #expect(rig.isAccepted(try await rig.identity.sign("POST", path: "/x")))
        #expect(try rig.record().key(.current)?.generation == 2)
    }

    /// D1: the old key works, so the new one was thought to be unused; then the request that was held back arrives.
    @Test(arguments: settlements)
    func w1_aRequestThatWasHeldBackLocksNobodyOut(_ settlements: [Settlement]) async throws {
        let rig = try await FlowRig.registered { $0.settlements = settlements }
        rig.service.change { $0.fates = [.late] + Array(repeating: .notSent, count: 9) }
        _ = try? await rig.identity.rotate()
        #expect(rig.isAccepted(try await rig.identity.sign("POST", path: "/x")))
        #expect(try rig.identity.status().reason == .rotationPending)
        rig.service.deliverLate()
        #expect(!rig.isAccepted(try await rig.identity.sign("POST", path: "/x")))
        try await rig.expectNotLost()
        #expect(rig.vault.keysMade == 2)
    }

    /// The same key is offered again, even if the service refused it the first time.
    @Test func w1_aRefusedKeyIsOfferedAgain() async throws {
        let rig = try await FlowRig.registered()
        rig.service.script(.answers(409, "ROTATION_FAILED"))
        #expect(await refusal { try await rig.identity.rotate() } == .rotationFailed)
        #expect(rig.service.paths == ["/rotate"])
        #expect(try rig.record().journal == nil)
        try await rig.restarted().rotate()
        #expect(rig.vault.keysMade == 2)
        let keys = rig.sent("new_public_key", to: "/rotate")
        #expect(keys.count == 2 && keys[0] == keys[1])
        try await rig.expectNotLost()
    }

    @Test func w2_theOldKeyIsKeptUntilTheNewOneWasAccepted() async throws {
        let rig = try await FlowRig.registered()
        try await rig.identity.rotate()
        #expect(try rig.record().keys.count == 2)
        try await rig.identity.maintain()
        #expect(rig.service.paths == ["/rotate", "/self"])
        #expect(try rig.record().keys.map(\.generation) == [2])
        try await rig.expectNotLost()
        // Its file was moved, not removed.
        #expect(try rig.folder.open().attic().names().count == 1)
    }

    @Test func aKeyThatCountsFromLaterSignsFromThen() async throws {
        let rig = try await FlowRig.registered()
        rig.service.change { $0.effectiveIn = 600 }
        let rotation = try await rig.identity.rotate()
        #expect(rotation.effectiveAt == rig.time.seconds + 600)
        #expect(try await rig.identity.sign("GET", path: "/").generation == 1)
        #expect(try rig.identity.status().reason == .rotationPending)
        rig.time.advance(.seconds(600))
        #expect(try await rig.identity.sign("GET", path: "/").generation == 2)
        try await rig.identity.maintain()
        #expect(try rig.record().key(.current)?.generation == 2)
        #expect(try rig.record().journal == nil)
    }

    @Test(arguments: [86_401, 1 << 40, -5] as [Int64])
    func aTimeThatIsTooFarAwayIsNotBelieved(_ seconds: Int64) async throws {
        let rig = try await FlowRig.registered()
        rig.service.change { $0.effectiveIn = seconds }
        #expect(try await rig.identity.rotate().effectiveAt == nil)
        #expect(try await rig.identity.sign("GET", path: "/").generation == 2)
    }

    /// D2, D5: a service that refuses all keys is believed when it does so again, an hour later; nothing is deleted.
    @Test(arguments: settlements)
    func supersededIsBelievedTheSecondTime(_ settlements: [Settlement]) async throws {
        let rig = try await FlowRig.registered { $0.settlements = settlements }
        let other = try SoftwareKey().publicKey.derRepresentation
        rig.service.change { $0.devices["device-1"]?.key = TextEncoding.base64.encode(other) }
        for _ in 0..<3 {
            #expect(await refusal { try await rig.identity.rotate() } == .keyRefused)
            #expect(rig.identity.isRegistered)
            rig.time.advance(.seconds(1000))
        }
        rig.time.advance(.seconds(600))
        #expect(await refusal { try await rig.identity.rotate() } == .keyInvalidated)
        let status = try rig.identity.status()
        #expect(status.state == .keyInvalid && status.reason == .superseded)
        #expect(try rig.record().keys.count == 2)
        // Only an explicit call begins anew.
        let registration = try await rig.identity.register()
        #expect(registration.deviceID == "device-2")
    }

    /// D5: the record is damaged, and only the one from before a rotation can be read. The service says which key it
    /// holds.
    @Test(arguments: settlements, [false, true])
    func d5_anOlderRecordIsResolvedByTheService(_ settlements: [Settlement], _ isLost: Bool) async throws {
        let rig = try await FlowRig.registered { $0.settlements = settlements }
        let name = try rig.record().name
        let old = try #require(rig.folder.open().read(name.record, atMost: 1 << 20).value).bytes
        if isLost { rig.service.change { $0.fates = Array(repeating: .requestLost, count: 5) } }
        _ = try? await rig.identity.rotate()
        rig.service.change { $0.fates = [] }
        try rig.folder.put(old, as: name.record + ".prev")
        try rig.folder.put("damaged", as: name.record)
        let identity = try rig.restarted()
        for verb in [Verb.sign, .rotate] { #expect(await identity.code(verb) == .stateUnresolved) }
        #expect(try await identity.register().status == .alreadyRegistered)
        #expect(try rig.record().key(.current)?.generation == (isLost ? 1 : 2))
        #expect(rig.isAccepted(try await identity.sign("POST", path: "/x")))
        try await rig.expectNotLost(identity)
        #expect(rig.vault.keysMade == 2)
    }

    @Test func anAnswerInBetweenTakesTheRefusalBack() async throws {
        let rig = try await FlowRig.registered()
        let key = try #require(rig.service.devices["device-1"]?.key)
        rig.service.change { $0.devices["device-1"]?.key = "" }
        _ = try? await rig.identity.rotate()
        #expect(try rig.record().refusedAt != nil)
        rig.service.change { $0.devices["device-1"]?.key = key }
        rig.time.advance(.seconds(4000))
        try await rig.identity.rotate()
        #expect(try rig.record().refusedAt == nil)
    }

    /// D3: revoked is believed after a second request, kept, and left by a reset only.
    @Test(arguments: settlements)
    func w24_revokedStopsUntilReset(_ settlements: [Settlement]) async throws {
        let rig = try await FlowRig.registered { $0.settlements = settlements }
        rig.service.change { $0.devices["device-1"]?.isRevoked = true }
        #expect(await refusal { try await rig.identity.rotate() } == .deviceRevoked)
        #expect(rig.service.paths.count == 2)
        #expect(!rig.identity.isRegistered)
        let again = try rig.restarted()
        for verb in [Verb.sign, .rotate, .register] { #expect(await again.code(verb) == .deviceRevoked) }
        #expect(rig.service.paths.count == 2)
        try await again.reset()
        #expect(try await again.register().deviceID == "device-2")
    }

    @Test(arguments: settlements)
    func w24_revokedOnceIsNotBelieved(_ settlements: [Settlement]) async throws {
        let rig = try await FlowRig.registered { $0.settlements = settlements }
        rig.service.script(.answers(403, "DEVICE_REVOKED"))
        #expect(await refusal { try await rig.identity.rotate() } == .deviceRevoked)
        #expect(rig.identity.isRegistered)
        try await rig.expectNotLost()
    }

    /// D3: only JSON of a known code is believed.
    @Test func aPageOfAProxyChangesNothing() async throws {
        let rig = try await FlowRig.registered()
        let html = [(name: "Content-Type", value: "text/html")]
        rig.service.change {
            $0.fates = Array(repeating: .answers(403, "DEVICE_REVOKED", headers: html), count: 4)
        }
        #expect(await refusal { try await rig.identity.rotate() } == .serviceRefused)
        #expect(rig.identity.isRegistered)
        try await rig.expectNotLost()
    }

    @Test(arguments: [4000, -4000, 86_000] as [Int64])
    func w18_theClockIsLearntOnce(_ skew: Int64) async throws {
        let rig = try await FlowRig.registered()
        rig.service.change { $0.skew = skew }
        try await rig.identity.rotate()
        #expect(rig.service.paths.count == 2)
        #expect(rig.isAccepted(try await rig.restarted().sign("POST", path: "/x")))
        #expect(try rig.record().clock?.milliseconds == skew * 1000)
        // Somebody sets the wall clock: the known difference no longer holds.
        rig.time.setWall(by: .seconds(5000))
        let signed = try await rig.restarted().sign("POST", path: "/x")
        #expect(Int64(signed.timestamp) == rig.time.seconds)
    }

    @Test(arguments: [86_500, -86_500, 400_000_000] as [Int64])
    func w18_aClockThatIsFurtherAwayIsNotBelieved(_ skew: Int64) async throws {
        let rig = try await FlowRig.registered()
        rig.service.change { $0.skew = skew }
        #expect(await refusal { try await rig.identity.rotate() } == .clockSkew)
        #expect(rig.service.paths.count == 1)
        #expect(try rig.record().clock == nil)
    }

    @Test func w23_aKeyIsDueAfterNinetyDaysAtMost() async throws {
        let rig = try await FlowRig.registered()
        let due = try #require(try rig.identity.rotationDue())
        let day: Int64 = 86_400
        #expect(81 * day...90 * day ~= due - rig.time.seconds)
        try await rig.identity.maintain()
        #expect(rig.service.paths == [])
        rig.time.advance(.seconds(due - rig.time.seconds))
        try await rig.identity.maintain()
        #expect(rig.service.paths == ["/rotate"])
        #expect(try #require(try rig.identity.rotationDue()) > due)
    }

    @Test(arguments: 0..<6)
    func w30_cancellationOfARotationIsAnUnknownOutcome(_ exchange: Int) async throws {
        let rig = try await FlowRig.registered()
        rig.service.change { $0.fates = Array(repeating: .answerLost, count: exchange) + [.arrives] }
        let call = CancelledCall()
        rig.time.onSleep { call.cancel() }
        let code = await call.run { [identity = rig.identity] in try await identity.rotate() }
        #expect(code == (exchange == 0 ? nil : .outcomeUnknown))
        try await rig.expectNotLost()
    }
}
