// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Synchronization
import Tenon
import Testing

/// Signing, answers to signed requests, lost keys, reset, and the stream of states.
@Suite struct SigningTests {
    @Test func w15_onlyARegisteredDeviceSigns() async throws {
        let rig = try FlowRig()
        #expect(await rig.identity.code(.sign) == .notRegistered)
        #expect(await rig.identity.code(.signBlocking) == .notRegistered)
        rig.service.change { $0.fates = [.arrives] + Array(repeating: .requestLost, count: 9) }
        _ = try? await rig.identity.register()
        #expect(await rig.identity.code(.sign) == .notRegistered)
    }

    @Test func blockingAndAsynchronousFormsAreAccepted() async throws {
        let rig = try await FlowRig.registered()
        #expect(rig.isAccepted(try await rig.identity.sign("POST", path: "/v1/x", body: [1, 2])))
        #expect(rig.isAccepted(try blocking { try rig.identity.sign("POST", path: "/v1/x", body: [1, 2]) }))
        var streamed = try await rig.identity.request("PUT", path: "/v1/y")
        try streamed.update([1])
        try streamed.update([2, 3])
        let signed = try await streamed.sign()
        #expect(rig.isAccepted(signed, body: [1, 2, 3]))
    }

    @Test(arguments: ["", "get", "G T"])
    func aWrongMethodIsRefused(_ method: String) async throws {
        let rig = try await FlowRig.registered()
        #expect(await refusal { try await rig.identity.sign(method, path: "/") } == .method)
    }

    /// W16: only a lost key ends the identity, and only once.
    @Test(arguments: [Verb.sign, .signBlocking])
    func w16_aKeyThatIsGoneEndsTheIdentity(_ verb: Verb) async throws {
        let rig = try await FlowRig.registered()
        rig.vault.clear()
        let identity = try rig.restarted()
        #expect(await identity.code(verb) == .keyInvalidated)
        let status = try identity.status()
        #expect(status.state == .keyInvalid)
        #expect(status.reason == .tpmCleared)
        // Only an explicit call begins anew.
        #expect(rig.service.paths == [])
        let local = try rig.record().deviceLocalID
        try await identity.register()
        #expect(rig.service.devices.count == 2)
        #expect(rig.vault.keysMade == 2)
        // W17: the service may find out that it is the same machine.
        #expect(try rig.record().deviceLocalID == local)
        #expect(rig.isAccepted(try await identity.sign("POST", path: "/x")))
    }

    /// It is reported, and not repaired silently.
    @Test(arguments: [Verb.register, .rotate, .begin])
    func w16_eachOperationFindsAKeyThatIsGone(_ verb: Verb) async throws {
        let rig = try await FlowRig.registered()
        rig.vault.clear()
        let identity = try rig.restarted()
        // A request finds it when it is begun.
        let begun = await refusal { if verb == .begin { _ = try await identity.request("GET", path: "/") } }
        #expect(begun == (verb == .begin ? .keyInvalidated : nil))
        #expect(await identity.code(verb) == .keyInvalidated)
        #expect(try identity.status().state == .keyInvalid)
        #expect(try identity.status().reason == .tpmCleared)
        #expect(rig.service.paths == [])
    }

    @Test(arguments: [TenonError.Code.tpmBusy, .tpmMissing, .tpmPermission, .authNeeded, .parentMissing, .tpmTransport])
    func w16_aTPMThatIsNotThereIsNoLoss(_ code: TenonError.Code) async throws {
        let rig = try await FlowRig.registered()
        rig.vault.fail(.load, TenonError(code, message: "Not now."))
        let identity = try rig.restarted()
        for verb in [Verb.sign, .register, .rotate] { #expect(await identity.code(verb) == code) }
        #expect(identity.isRegistered)
        rig.vault.fail(.load, nil)
        try await rig.expectNotLost()
        #expect(rig.vault.keysMade <= 2)
    }

    /// A lost attestation key is replaced, and says nothing about the signing key (decision: command-and-code).
    @Test func aLostAttestationKeyIsMadeAnew() async throws {
        let rig = try await FlowRig.registered()
        rig.vault.fail(.areaOfAK, TenonError(.keyGone, message: "TPM_RC_INTEGRITY"))
        #expect(await refusal { try await rig.identity.rotate() } == .attestationFailed)
        #expect(rig.identity.isRegistered)
        rig.vault.fail(.areaOfAK, nil)
        try await rig.expectNotLost()
    }

    @Test func answersOfApplicationsAreAskedAbout() async throws {
        let rig = try await FlowRig.registered()
        let signed = try await rig.identity.sign("POST", path: "/x", body: [1])
        // An unknown code, and a page of a proxy.
        for (status, code) in [(401, "WHATEVER"), (500, "DEVICE_REVOKED.")] {
            #expect(await rig.answer(signed, status, code).isDone)
        }
        #expect(rig.service.paths == [])
        // The service itself says that all is well.
        for code in ["DEVICE_REVOKED", "BAD_SIGNATURE"] {
            #expect(await rig.answer(signed, 401, code).isDone)
            #expect(rig.identity.isRegistered)
        }
        #expect(rig.service.paths == ["/self", "/self"])
    }

    /// Among bare refusals of an application's service, only a 401 may be about the key, even while a rotation is open.
    @Test(arguments: [400, 403, 404, 409, 422, 500])
    func otherRefusalsAskNobody(_ status: Int) async throws {
        let rig = try await FlowRig.registered()
        await rig.rotate(.answerLost)
        rig.service.change { $0.seen = [] }
        let signed = try await rig.identity.sign("POST", path: "/x", body: [1])
        #expect(await rig.identity.received(status: status, headers: [], body: [], for: signed).isDone)
        #expect(rig.service.paths == [])
        #expect(await rig.identity.received(status: 401, headers: [], body: [], for: signed).again?.generation == 2)
    }

    @Test func aReplayedNonceIsSignedAnewOnce() async throws {
        let rig = try await FlowRig.registered()
        let signed = try await rig.identity.sign("POST", path: "/x", body: [1])
        let second = try #require(await rig.answer(signed, 409, "NONCE_REPLAY").again)
        #expect(second.nonce != signed.nonce)
        #expect(rig.isAccepted(second))
        #expect(await rig.answer(second, 409, "NONCE_REPLAY").isDone)
        #expect(rig.service.paths == [])
    }

    /// Another process changed the key during the search for it: the new key is not given up for the old one.
    @Test func aKeyThatIsGoneTakesNoOtherWithIt() async throws {
        let rig = try await FlowRig.registered()
        let before = try rig.record()
        try await rig.identity.rotate()
        let after = try RecordFile.encode(rig.record())
        try rig.folder.put(RecordFile.encode(before), as: before.name.record)
        rig.vault.lose(try #require(before.key(.current)).facts.pem)
        let folder = rig.folder
        rig.vault.onBlocking { try? folder.put(after, as: before.name.record) }
        let identity = try rig.restarted()
        #expect(await identity.code(.signBlocking) == .keyInvalidated)
        #expect(try rig.record().state == .registered && rig.record().key(.current)?.generation == 2)
        #expect(rig.isAccepted(try await rig.restarted().sign("POST", path: "/x")))
    }

    @Test func w18_theClockIsLearntOfTheServiceItself() async throws {
        let rig = try await FlowRig.registered()
        let signed = try await rig.identity.sign("POST", path: "/x", body: [1])
        // An application that lies about the time.
        _ = await rig.answer(signed, 401, "CLOCK_SKEW")
        #expect(try rig.record().clock == nil)
        rig.service.change { $0.skew = 5000 }
        let second = try #require(await rig.answer(signed, 401, "CLOCK_SKEW").again)
        #expect(rig.isAccepted(second))
    }

    /// A service that was just restarted refuses even new requests for some seconds.
    @Test(arguments: [0, -4000] as [Int64]) func aServiceThatJustStartedIsWaitedFor(_ skew: Int64) async throws {
        let rig = try await FlowRig.registered()
        rig.service.change { ($0.skew, $0.startedAt) = (skew, rig.time.seconds + skew) }
        let signed = try await rig.identity.sign("POST", path: "/x", body: [1])
        let second = try #require(await rig.answer(signed, 401, "CLOCK_SKEW").again)
        #expect(rig.isAccepted(second))
        #expect(rig.time.pauses == [.seconds(3)])
        // The same service starts again while a key is changed.
        rig.service.change { $0.startedAt = rig.time.seconds + skew }
        try await rig.identity.rotate()
        #expect(rig.time.pauses == [.seconds(3), .seconds(3)])
    }

    @Test func aPauseLongerThanAStartIsNotWaitedFor() async throws {
        let rig = try await FlowRig.registered()
        rig.service.change { ($0.startedAt, $0.startPause) = (rig.time.seconds, "11") }
        let signed = try await rig.identity.sign("POST", path: "/x", body: [1])
        #expect(await rig.answer(signed, 401, "CLOCK_SKEW").stopped == .clockSkew)
        #expect(rig.time.pauses == [])
    }

    @Test func anApplicationThatRefusesTheOldKeySettlesTheRotation() async throws {
        let rig = try await FlowRig.registered()
        await rig.rotate(.answerLost)
        let signed = try await rig.identity.sign("POST", path: "/x", body: [1])
        #expect(!rig.isAccepted(signed))
        let second = try #require(await rig.answer(signed, 401, "BAD_SIGNATURE").again)
        #expect(rig.isAccepted(second))
    }

    @Test func w24_anApplicationThatSaysRevokedIsCheckedTwice() async throws {
        let rig = try await FlowRig.registered()
        let signed = try await rig.identity.sign("POST", path: "/x", body: [1])
        rig.service.change { $0.devices["device-1"]?.isRevoked = true }
        #expect(await rig.answer(signed, 403, "DEVICE_REVOKED").stopped == .deviceRevoked)
        #expect(rig.service.paths == ["/self", "/self"])
        #expect(try rig.identity.status().reason == .revoked)
    }

    @Test func aServiceThatCannotBeAskedStopsNobody() async throws {
        let rig = try await FlowRig.registered()
        let signed = try await rig.identity.sign("POST", path: "/x", body: [1])
        for fault in RegistrationTests.faults {
            rig.service.change { $0.fates = Array(repeating: fault, count: 9) }
            #expect(await rig.answer(signed, 401, "BAD_SIGNATURE").isDone)
        }
        #expect(rig.identity.isRegistered)
        try await rig.expectNotLost()
    }

    @Test func w14_resetForgetsAllAndKeepsTheKeysFiles() async throws {
        let rig = try await FlowRig.registered()
        let before = try rig.record()
        try await rig.identity.reset()
        let after = try rig.record()
        #expect(after.state == .unregistered && after.keys == [] && after.deviceID == nil)
        #expect(after.deviceLocalID != before.deviceLocalID)
        // The keys and their record: only a purge deletes them, and nothing brings them back.
        let kept = try rig.folder.open().attic().names().map {
            $0.split(separator: ".").dropFirst().joined(separator: ".")
        }
        #expect(kept.sorted().map { $0.prefix(6) } == ["ak-unk", "g1-unk", "record"])
        #expect(try !rig.folder.open().names().contains { $0.hasSuffix(".prev") })
        #expect(await refusal { try await rig.identity.sign("GET", path: "/") } == .notRegistered)
        try await rig.identity.register()
        #expect(rig.service.devices.count == 2)
    }

    /// W14: a reset during a registration waits for it, and the registration does not come back.
    @Test func w14_aRegistrationDoesNotRiseAfterAReset() async throws {
        let rig = try FlowRig()
        let identity = rig.identity
        let reset = Mutex<Task<Void, any Error>?>(nil)
        rig.service.change {
            $0.onExchange = { if $0 == "/register" { reset.withLock { $0 = Task { try await identity.reset() } } } }
        }
        try await identity.register()
        try await reset.withLock { $0 }?.value
        #expect(try identity.status().state == .unregistered)
    }

    @Test func w14_blockingResetWaitsForTheLock() async throws {
        let rig = try await FlowRig.registered()
        for _ in 0..<2 {
            try blocking { try rig.identity.reset(waitingAtMost: .seconds(5)) }
            #expect(!rig.identity.isRegistered)
        }
    }

    @Test func statesAreTold() async throws {
        let rig = try FlowRig()
        let states = rig.identity.states
        try await rig.identity.register()
        try await rig.identity.rotate()
        try await rig.identity.reset()
        var told: [IdentityState] = []
        for await status in states {
            told.append(status.state)
            if told.count > 5, status.state == .unregistered { break }
        }
        #expect(
            told == [
                .unregistered, .challengeReceived, .keyReady, .registering, .registered, .registering, .registered,
                .unregistered,
            ])
    }

    @Test(arguments: ["http://service.example", "https://user@service.example", "ftp://service.example", ""])
    func w20_aServiceMustBeReachedSafely(_ base: String) throws {
        var profile = PlainProfile()
        profile.declaration.baseURL = base
        let folder = try TemporaryFolder()
        let time = FlowTime()
        #expect(throws: TenonError.self) {
            try DeviceIdentity(
                appID: "app", profile: profile, vault: ScriptedVault(), transport: ScriptedService(time),
                folder: folder.open())
        }
    }
}
