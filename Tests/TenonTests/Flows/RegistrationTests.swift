// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Tenon
import Testing

/// Registration and its failures; W numbers are those of the contract's list of weaknesses.
@Suite struct RegistrationTests {
    static let faults: [ScriptedService.Fate] = [.notSent, .requestLost, .answerLost, .garbled, .answers(503, nil)]

    @Test func registersOnceAndThenSaysSo() async throws {
        let rig = try FlowRig()
        let first = try await rig.identity.register()
        #expect(first.status == .registered && first.deviceID == "device-1")
        #expect(rig.service.paths == ["/challenge", "/register"])
        let second = try await rig.restarted().register()
        #expect(second.status == .alreadyRegistered && second.deviceID == "device-1")
        #expect(rig.service.paths.count == 2)
        try await rig.expectNotLost()
    }

    @Test func proofAndActivationAreOfThisChallengeAndKey() async throws {
        let rig = try await FlowRig.registered()
        let key = try #require(rig.service.devices["device-1"]?.key)
        let nonce = try Digest(hashing: Array(("challenge-1" + key).utf8)).rawRepresentation
        #expect(rig.vault.proofs == [nonce])
        #expect(
            rig.vault.activations == [
                Activation(origin: "https://service.example", appID: "app", challenge: "challenge-1", keyText: key)
            ])
        let record = try rig.record()
        #expect(record.attestation == .attested)
        #expect(record.attestationKey?.shownTo == "https://service.example")
        #expect(record.journal == nil)
        #expect(record.keys.map(\.isHardware) == [true])
    }

    /// The faults of the network at each step, each many times and followed by a restart of the process.
    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8], faults)
    func w4_whateverIsLostTheSameKeyIsRegistered(_ step: Int, _ fault: ScriptedService.Fate) async throws {
        let rig = try FlowRig()
        var fates = Array(repeating: ScriptedService.Fate.arrives, count: step - 1)
        if step > 2 { fates = Array(repeating: fault, count: step - 1) }
        rig.service.change { $0.fates = fates + [fault] }
        _ = try? await rig.identity.register()
        try await rig.expectNotLost()
        #expect(rig.vault.keysMade == 1)
    }

    @Test func w5_eachTryHasAFreshChallenge() async throws {
        let rig = try FlowRig()
        rig.service.script(.arrives, .answerLost, .arrives, .answers(503, nil), .arrives, .arrives)
        try await rig.identity.register()
        #expect(rig.sent("challenge", to: "/register") == ["challenge-1", "challenge-2", "challenge-3"])
        #expect(rig.vault.proofs.count == 3)
        #expect(rig.service.devices.count == 1)
    }

    @Test func w5_theFirstErrorIsKept() async throws {
        let rig = try FlowRig()
        rig.service.script(
            .answers(503, "OVERLOADED"), .answers(500, nil), .notSent, .answers(500, nil), .answers(500, nil))
        let error = await #expect(throws: TenonError.self) { try await rig.identity.register() }
        #expect(error?.serverCode == "OVERLOADED")
        #expect(error?.httpStatus == 503)
        #expect(rig.service.paths.count == 5)
    }

    @Test(arguments: [400, 401, 403, 404, 409, 422])
    func w6_aDefiniteAnswerIsNotTriedAgain(_ status: Int) async throws {
        for code in ["INVALID_ATTESTATION", "DEV_001", "DEVICE_REVOKED"] {
            let rig = try FlowRig()
            rig.service.script(.arrives, .answers(status, code))
            let error = await #expect(throws: TenonError.self) { try await rig.identity.register() }
            #expect(error?.serverCode == code)
            #expect(error?.httpStatus == status)
            #expect(rig.service.paths == ["/challenge", "/register"])
            #expect(rig.time.pauses == [])
            try await rig.expectNotLost()
        }
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503])
    func transientStatusIsTriedAgain(_ status: Int) async throws {
        let rig = try FlowRig()
        rig.service.script(.answers(status, nil))
        try await rig.identity.register()
        #expect(rig.service.paths == ["/challenge", "/challenge", "/register"])
        #expect(rig.time.pauses == [.seconds(1)])
    }

    /// The device waits less for a port at which nobody listens than for a busy service.
    @Test(
        arguments: [
            (.answers(503, nil), .serviceBusy, [1300, 2300, 4300, 8300]), (.notSent, .httpConnect, [1300, 2300]),
        ] as [(ScriptedService.Fate, TenonError.Code, [Int64])])
    func pausesAreTheRule(_ fate: ScriptedService.Fate, _ code: TenonError.Code, _ pauses: [Int64]) async throws {
        let rig = try FlowRig()
        rig.time.setChance(.milliseconds(300))
        rig.service.change { $0.fates = Array(repeating: fate, count: 9) }
        #expect(await rig.identity.code(.register) == code)
        #expect(rig.time.pauses == pauses.map { .milliseconds($0) })
        #expect(rig.service.paths.count == pauses.count + 1)
    }

    @Test func aPauseBeyondTheDeadlineIsReported() async throws {
        let late = try FlowRig()
        late.service.script(.answers(429, nil, headers: [("Retry-After", "61")]))
        let error = await #expect(throws: TenonError.self) { try await late.identity.register() }
        #expect(error?.retryAfter == .seconds(61))
        let text = "It asks for a pause of 61 s, but this call may take 60 s at most."
        #expect(error?.message.hasSuffix(text) == true)
        #expect(late.service.paths.count == 1)
    }

    /// An exchange ends with the call, however long it may take.
    @Test func noExchangeIsLongerThanItsCall() async throws {
        let rig = try FlowRig()
        let end = rig.time.moment.continuous + .seconds(60)
        rig.service.script(.answers(503, nil, headers: [("Retry-After", "45")]))
        try await rig.identity.register()
        #expect(rig.service.deadlines == [end - .seconds(30), end, end])
    }

    /// The time that the answer took counts as part of a challenge's life.
    @Test func w7_aChallengeLivesFromWhenItWasAskedFor() async throws {
        let rig = try FlowRig()
        rig.service.change { $0.way = .seconds(56) }
        #expect(await refusal { try await rig.identity.register() } == .challengeExpired)
        #expect(!rig.service.paths.contains("/register"))
    }

    /// The pause that a service asks for; none if that leaves no time for another try, however large the number is. What
    /// is neither a number nor a date to come is not taken.
    @Test(
        arguments: [
            ("20", 20), ("60", nil), ("1000000000", nil), ("9223372036854775807", nil),
            ("99999999999999999999999", nil), ("soon", 1), ("-1", 1), ("", 1), ("1.5", 1),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 1), ("Mon, 06 Nov 1994 08:49:37 GMT", 1),
        ] as [(String, Int64?)])
    func retryAfterIsHonoured(_ text: String, _ seconds: Int64?) async throws {
        let rig = try FlowRig()
        rig.service.script(.answers(503, nil, headers: [("Retry-After", text)]))
        #expect(await rig.identity.code(.register) == (seconds == nil ? .serviceBusy : nil))
        #expect(rig.service.paths.count == (seconds == nil ? 1 : 3))
        #expect(rig.time.pauses == [seconds].compactMap { $0.map { .seconds($0) } })
    }

    /// After an unintelligible answer to a sent message, the same call continues.
    @Test func anAnswerThatCannotBeReadLeavesTheOutcomeOpen() async throws {
        let rig = try FlowRig()
        rig.service.script(.arrives, .garbled)
        let error = await #expect(throws: TenonError.self) { try await rig.identity.register() }
        #expect(error?.code == .serviceAnswer && error?.isOutcomeOpen == true)
        let early = try FlowRig()
        early.service.script(.garbled)
        let sure = await #expect(throws: TenonError.self) { try await early.identity.register() }
        #expect(sure?.code == .serviceAnswer && sure?.isOutcomeOpen == false)
    }

    @Test(arguments: [nil, 0, 3, -5, 100_000] as [Int64?])
    func w7_aChallengeLivesNinetySecondsAtMost(_ ttl: Int64?) async throws {
        let rig = try FlowRig()
        rig.service.change { $0.ttl = ttl }
        // No proof takes that long: the clock is advanced here, at the exchange of the challenge.
        let isDead = ttl.map { $0 <= 5 } ?? false
        #expect(await refusal { try await rig.identity.register() } == (isDead ? .challengeExpired : nil))
        #expect(rig.service.paths.filter { $0 == "/register" }.count == (isDead ? 0 : 1))
        #expect(rig.service.paths.filter { $0 == "/challenge" }.count == (isDead ? 2 : 1))
    }

    @Test func w7_theChallengeIsLookedAtAgainBeforeItIsSent() async throws {
        let rig = try FlowRig()
        rig.service.change { $0.ttl = nil }
        rig.vault.onProof { rig.time.advance(.seconds(86)) }
        #expect(await refusal { try await rig.identity.register() } == .challengeExpired)
        #expect(!rig.service.paths.contains("/register"))
        // The wall clock does not matter.
        let other = try FlowRig()
        other.vault.onProof { other.time.setWall(by: .seconds(100_000)) }
        try await other.identity.register()
    }

    @Test func w8_pendingIsNotRegistered() async throws {
        let rig = try FlowRig()
        rig.service.change { $0.status = "pending" }
        #expect(await refusal { try await rig.identity.register() } == .registrationPending)
        let status = try rig.identity.status()
        #expect(status.state == .unregistered)
        #expect(status.reason == .approvalPending)
        #expect(!rig.identity.isRegistered)
        #expect(await refusal { try await rig.identity.sign("GET", path: "/") } == .registrationPending)
        rig.service.change { $0.status = "registered" }
        try await rig.expectNotLost()
        #expect(rig.vault.keysMade == 1)
    }

    @Test func w8_rejectedIsAnEndAndItsKeyGoesToTheAttic() async throws {
        let rig = try FlowRig()
        rig.service.change { $0.status = "rejected" }
        #expect(await refusal { try await rig.identity.register() } == .registrationRejected)
        #expect(try rig.record().keys == [])
        #expect(try rig.folder.open().attic().names().count == 1)
        rig.service.change { $0.status = "registered" }
        try await rig.identity.register()
        #expect(rig.vault.keysMade == 2)
    }

    @Test func w8_anUnknownStatusIsAnUnknownOutcome() async throws {
        let rig = try FlowRig()
        rig.service.change { $0.status = "who knows" }
        let error = await #expect(throws: TenonError.self) { try await rig.identity.register() }
        #expect(error?.code.category == .unknown)
        rig.service.change { $0.status = "registered" }
        try await rig.expectNotLost()
        #expect(rig.vault.keysMade == 1)
    }

    /// A refusal that another challenge, another proof or another nonce may end is answered once, and then reported.
    @Test(
        arguments: [
            (Verb.register, 400, "INVALID_CHALLENGE", .challengeExpired),
            (.register, 403, "ATTESTATION_FAILED", .attestationFailed), (.rotate, 409, "NONCE_REPLAY", .nonceReplay),
        ] as [(Verb, Int, String, TenonError.Code)])
    func someRefusalsAreAnsweredOnce(_ verb: Verb, _ status: Int, _ word: String, _ code: TenonError.Code) async throws
    {
        let tries = verb == .register ? ["/challenge", "/register"] : ["/rotate"]
        for isRefusedAgain in [false, true] {
            let rig = verb == .register ? try FlowRig() : try await FlowRig.registered()
            let (keys, proofs) = (rig.vault.keysMade, rig.vault.proofs.count)
            rig.service.change { state in
                state.fates = Array(repeating: .arrives, count: tries.count - 1) + [.answers(status, word)]
                if isRefusedAgain { state.answers[tries.last ?? ""] = (status, word) }
            }
            #expect(await rig.identity.code(verb) == (isRefusedAgain ? code : nil))
            #expect(rig.service.paths == tries + tries && rig.time.pauses == [])
            #expect(rig.vault.keysMade == keys + 1 && (verb == .rotate || rig.vault.proofs.count == proofs + 2))
            let nonces = Set(rig.service.seen.compactMap { $0.headers.first { $0.name == "X-Nonce" }?.value })
            #expect(nonces.count == (verb == .register ? 0 : 2))
        }
    }

    @Test func w25_attestationThatIsRequiredIsNeverLeftOut() async throws {
        let rig = try FlowRig()
        rig.service.change { $0.credentials = false }
        #expect(await refusal { try await rig.identity.register() } == .attestationUnavailable)
        #expect(rig.service.paths == ["/challenge"])

        for call in [ScriptedVault.Call.endorsement, .makeAK, .proof, .activate] {
            let rig = try FlowRig()
            rig.vault.fail(call, TenonError(.ekMissing, message: "There is none."))
            #expect(await refusal { try await rig.identity.register() } == .attestationUnavailable)
            #expect(!rig.service.paths.contains("/register"))
            rig.vault.fail(call, nil)
            try await rig.expectNotLost()
        }
    }

    /// A service's refusal of the attestation says nothing about the signing key (decision: command-and-code).
    @Test func aRefusedCredentialLeavesTheKey() async throws {
        let rig = try FlowRig()
        rig.vault.fail(.activate, TenonError(.keyGone, message: "TPM_RC_INTEGRITY"))
        #expect(await refusal { try await rig.identity.register() } == .attestationFailed)
        // The local failure was tried once more.
        #expect(rig.service.paths == ["/challenge", "/challenge"])
        rig.vault.fail(.activate, nil)
        try await rig.expectNotLost()
        #expect(rig.vault.keysMade == 1)
    }

    @Test func w25_withoutAttestationTheRecordSaysSo() async throws {
        let rig = try FlowRig { $0.isAttestationRequired = false }
        rig.vault.fail(.makeAK, TenonError(.ekMissing, message: "There is none."))
        try await rig.identity.register()
        #expect(try rig.record().attestation == .unattested)
    }

    /// A key in memory is an identity only in a build for development.
    @Test func w26_aSoftwareKeyIsNotRegistered() async throws {
        let rig = try FlowRig()
        #expect(
            try await rig.restarted(with: ScriptedVault(isHardware: false)).code(.register) == .attestationUnavailable)
        #expect(rig.service.paths == [])
    }

    @Test func w13_manyCallersAreOneRegistration() async throws {
        let rig = try FlowRig()
        let identity = rig.identity
        try await withThrowingTaskGroup(of: Registration.self) { group in
            for _ in 0..<8 { group.addTask { try await identity.register() } }
            for try await registration in group { #expect(registration.deviceID == "device-1") }
        }
        #expect(rig.service.paths == ["/challenge", "/register"])
    }

    @Test func w12_anotherValueForTheIdentityWaits() async throws {
        let rig = try FlowRig()
        let (first, second) = (rig.identity, try rig.restarted())
        async let one = first.register()
        async let other = second.register()
        #expect(try await [one.deviceID, other.deviceID] == ["device-1", "device-1"])
        #expect(rig.service.paths == ["/challenge", "/register"])
    }

    @Test func w30_cancellationIsAnUnknownOutcome() async throws {
        let rig = try FlowRig()
        rig.service.script(.arrives, .answerLost)
        let call = CancelledCall()
        rig.time.onSleep { call.cancel() }
        let code = await call.run { [identity = rig.identity] in try await identity.register() }
        #expect(code == .outcomeUnknown)
        #expect(rig.service.devices.count == 1)
        try await rig.expectNotLost()
        #expect(rig.vault.keysMade == 1)
    }

    @Test(arguments: ["/register", "/rotate"])
    func w30_anAnswerThatCameIsKept(_ path: String) async throws {
        let rig = try FlowRig()
        let identity = rig.identity
        if path == "/rotate" { try await identity.register() }
        let call = CancelledCall()
        rig.service.change { $0.onExchange = { if $0 == path { call.cancel() } } }
        let code = await call.run {
            if path == "/rotate" { try await identity.rotate() } else { try await identity.register() }
        }
        #expect(code == nil)
        let record = try rig.record()
        #expect(record.state == .registered && record.journal == nil)
        #expect(record.key(.current)?.generation == (path == "/rotate" ? 2 : 1))
    }

    @Test func w9_aRecordThatCannotBeReadIsNotUnregistered() async throws {
        let rig = try await FlowRig.registered()
        let name = try rig.record().name
        try rig.folder.put("{}", as: name.record)
        try rig.folder.put("{}", as: name.record + ".prev")
        #expect(codeThrown { try rig.identity.status() } == .recordForm)
        #expect(await refusal { try await rig.identity.register() } == .recordForm)
        #expect(!rig.identity.isRegistered)
        #expect(rig.vault.keysMade == 1)
        try await rig.identity.reset()
        try await rig.identity.register()
        #expect(rig.service.devices.count == 2)
    }
}
