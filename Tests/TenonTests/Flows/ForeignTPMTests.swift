// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Testing

@testable import Tenon

/// A verb was called while another TPM was here, as with a disk in the wrong machine. With its own TPM back the
/// identity goes on: only reads happened in between.
@Suite struct ForeignTPMTests {
    /// Each verb with the wrong TPM, and then each with its own. To a bare TPM the key is shown when it signs.
    @Test(arguments: Verb.allCases.filter { $0 != .register && $0 != .received }, Verb.allCases)
    func theNextVerbFindsTheKeyAgain(_ first: Verb, _ second: Verb) async throws {
        for isBare in [false, true] { try await findsTheKeyAgain(first, second, isBare) }
    }

    private func findsTheKeyAgain(_ first: Verb, _ second: Verb, _ isBare: Bool) async throws {
        let rig = try await FlowRig.registered()
        if isBare { rig.vault.makeBare() }
        let answered = try await rig.identity.sign("POST", path: "/x", body: [1])
        let (device, keys) = (rig.identity.deviceID, rig.vault.keysMade)
        rig.vault.clear()
        #expect(try await rig.restarted().code(first, answered) != nil)
        rig.vault.bringBack()
        let back = try rig.restarted()
        #expect(await back.code(second, answered) == nil)
        #expect(back.isRegistered && back.deviceID == device)
        #expect(rig.isAccepted(try await back.sign("POST", path: "/x")))
        #expect(rig.service.devices.count == 1 && rig.vault.keysMade - keys == (second == .rotate ? 1 : 0))
        #expect(try rig.folder.open().attic().names() == [])
    }

    /// An open operation stays open, with its journal and the offered key.
    @Test func anOpenRotationStaysOpen() async throws {
        let rig = try await FlowRig.registered()
        await rig.rotate(.requestLost)
        let before = try rig.record()
        rig.vault.clear()
        #expect(try await rig.restarted().code(.sign) == .keyInvalidated)
        rig.vault.bringBack()
        #expect(try await rig.restarted().code(.sign) == nil)
        #expect(try rig.record() == before && before.reason == .rotationPending)
        try await rig.expectNotLost()
    }

    /// The key that signs because the service refused the other one stays, too, whichever verb comes next.
    @Test(arguments: Verb.allCases.filter { $0 != .rotate && $0 != .attest })
    func aKeyThatIsTriedIsTriedOn(_ next: Verb) async throws {
        let rig = try await FlowRig.registered { $0.settlements = [.resend, .selfRotation] }
        let answered = try await rig.identity.sign("POST", path: "/x", body: [1])
        try await tryNewKey(rig)
        let before = try rig.record()
        rig.vault.clear()
        #expect(try await rig.restarted().code(.sign) == .keyInvalidated)
        rig.vault.bringBack()
        _ = try await rig.restarted().code(next, answered)
        #expect(rig.isAccepted(try await rig.restarted().sign("POST", path: "/x", body: [1])))
        #expect(try rig.record().signsByNext && rig.record().keys == before.keys && rig.service.devices.count == 1)
    }

    @Test func anOpenRegistrationStaysOpen() async throws {
        let rig = try FlowRig()
        rig.service.change { $0.fates = [.arrives, .answerLost] + Array(repeating: .notSent, count: 8) }
        _ = try? await rig.identity.register()
        rig.service.change { $0.fates = [] }
        rig.vault.clear()
        #expect(try await rig.restarted().code(.register) == .keyInvalidated)
        rig.vault.bringBack()
        let back = try rig.restarted()
        #expect(await back.code(.sign) == .notRegistered)
        #expect(await back.code(.resolve) == .notRegistered)
        #expect(try await back.register().status == .registered)
        #expect(rig.service.devices.count == 1 && rig.vault.keysMade == 1)
    }

    /// A service said that it holds none of the keys, or that it revoked the device: no TPM changes that.
    @Test(arguments: ["superseded", "revoked"])
    func whatAServiceSaidStays(_ word: String) async throws {
        let rig = try await FlowRig.registered()
        if word == "revoked" {
            rig.service.change { $0.devices["device-1"]?.isRevoked = true }
            _ = try? await rig.identity.rotate()
        } else {
            rig.service.change { $0.devices["device-1"]?.key = "" }
            for _ in 0..<2 {
                _ = try? await rig.identity.rotate()
                rig.time.advance(.seconds(3601))
            }
        }
        let before = try rig.record()
        #expect(before.reason == (word == "revoked" ? .revoked : .superseded))
        #expect(try await rig.restarted().code(.sign) == (word == "revoked" ? .deviceRevoked : .keyInvalidated))
        #expect(try rig.record() == before)
    }

    /// The device looks for that key: the one that the service refused is useless, and need not be there.
    @Test(arguments: [Verb.sign, .signBlocking])
    func theKeyThatIsTriedIsLookedFor(_ verb: Verb) async throws {
        let rig = try await FlowRig.registered { $0.settlements = [.resend, .selfRotation] }
        try await tryNewKey(rig)
        rig.vault.clear()
        #expect(try await rig.restarted().code(verb) == .keyInvalidated)
        rig.vault.bringBack()
        rig.vault.lose(try #require(rig.record().key(.current)).facts.pem)
        #expect(try await rig.restarted().code(verb) == nil)
        #expect(rig.isAccepted(try await rig.restarted().sign("POST", path: "/x")))
    }

    /// A rotation was done whose answers were lost, and the service does not say so: the new key signs.
    private func tryNewKey(_ rig: FlowRig) async throws {
        rig.service.change { $0.refusesSelfRotation = (400, nil) }
        await rig.rotate(.answerLost)
        #expect(try await rig.restarted().maintain() == .rotationOpen(newKeySigns: true))
    }

    /// A registered device that noticed that another TPM is here.
    private func elsewhere() async throws -> FlowRig {
        let rig = try await FlowRig.registered()
        rig.vault.clear()
        #expect(try await rig.restarted().code(.sign) == .keyInvalidated)
        return rig
    }

    /// A busy TPM is neither the former TPM nor another one: nothing is concluded about the key.
    @Test func aTPMThatIsBusyIsAskedAgain() async throws {
        let rig = try await elsewhere()
        rig.vault.bringBack()
        rig.vault.fail(.load, TenonError(.tpmBusy, message: "Not now."))
        for verb in [Verb.sign, .signBlocking, .rotate, .register] {
            #expect(try await rig.restarted().code(verb) == .tpmBusy)
        }
        rig.vault.fail(.load, nil)
        #expect(try await rig.restarted().code(.sign) == nil)
    }

    /// A failed registration leaves the identity as it was, whatever the cause: with its own TPM back, it continues.
    @Test(arguments: ["no TPM certificate", "nobody there", "challenge refused", "refused", "rejected", "no key"])
    func aRegistrationThatFailsLeavesTheInvalidKey(_ cause: String) async throws {
        let rig = try await elsewhere()
        let before = try rig.record()
        switch cause {
        case "no TPM certificate": rig.vault.fail(.endorsement, TenonError(.ekMissing, message: "Not shown."))
        case "nobody there": rig.service.change { $0.fates = Array(repeating: .notSent, count: 99) }
        case "challenge refused": rig.service.change { $0.answers["/challenge"] = (403, "INVALID_ATTESTATION") }
        case "refused": rig.service.change { $0.answers["/register"] = (403, "INVALID_ATTESTATION") }
        case "rejected": rig.service.change { $0.answers["/register"] = (403, "REJECTED") }
        default: rig.vault.fail(.make, TenonError(.tpmBusy, message: "Not now."))
        }
        let identity = try rig.restarted()
        #expect(await identity.code(.register) != nil)
        #expect(try identity.status() == IdentityStatus(state: .keyInvalid, reason: .tpmCleared, deviceID: "device-1"))
        #expect(try rig.record().keys == before.keys && rig.record().deviceLocalID == before.deviceLocalID)
        // No number is used twice, even if its key is in the attic by now.
        #expect(try rig.record().lastGeneration == (cause == "no key" ? 1 : 2))
        rig.vault.fail(.endorsement, nil)
        rig.vault.fail(.make, nil)
        rig.service.change { ($0.fates, $0.answers) = ([], [:]) }
        rig.vault.bringBack()
        #expect(rig.isAccepted(try await rig.restarted().sign("POST", path: "/x")))
        #expect(rig.service.devices.count == 1)
        // If its TPM does not come back, it begins anew as before.
        rig.vault.clear()
        #expect(try await rig.restarted().code(.sign) == .keyInvalidated)
        try await rig.restarted().register()
        #expect(rig.isAccepted(try await rig.restarted().sign("POST", path: "/x")))
        #expect(rig.service.devices.count == 2)
    }

    /// A message that may have arrived is another matter: its key is offered again, and the old one is in the attic.
    @Test(arguments: [ScriptedService.Fate.answerLost, .garbled, .answers(200, nil)])
    func aRegistrationThatIsOpenIsGoneOnWith(_ fate: ScriptedService.Fate) async throws {
        let rig = try await elsewhere()
        rig.service.change { $0.fates = [.arrives, fate] + Array(repeating: .notSent, count: 9) }
        #expect(try await rig.restarted().code(.register) != nil)
        #expect(try rig.record().state == .unregistered && rig.record().key(.current)?.isOffered == true)
        rig.service.change { $0.fates = [] }
        try await rig.restarted().register()
        #expect(rig.isAccepted(try await rig.restarted().sign("POST", path: "/x")))
        #expect(rig.vault.keysMade == 2 && rig.service.devices.count == 2)
    }

    @Test func aRegistrationThatIsPendingKeepsItsKey() async throws {
        let rig = try await elsewhere()
        rig.service.change { $0.status = "pending" }
        #expect(try await rig.restarted().code(.register) == .registrationPending)
        #expect(try rig.record().reason == .approvalPending)
        rig.service.change { $0.status = "registered" }
        try await rig.restarted().register()
        #expect(rig.vault.keysMade == 2 && rig.service.devices.count == 2)
    }
}
