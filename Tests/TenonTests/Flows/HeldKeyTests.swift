// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Synchronization
import Testing

@testable import Tenon

/// The device finds the key that the service holds, whichever of the offered keys it is (decision: one-offered-key,
/// own-endpoints).
@Suite struct HeldKeyTests {
    /// W1: the rotation was carried out, and the answer denied it.
    @Test(arguments: [(404, nil), (403, nil), (409, "ROTATION_FAILED"), (403, "BAD_SIGNATURE")] as [(Int, String?)])
    func w1_aRefusalOfWhatWasDoneLosesNothing(_ status: Int, _ code: String?) async throws {
        let rig = try await FlowRig.registered()
        rig.service.script(.denied(status, code))
        _ = await refusal { try await rig.identity.rotate() }
        try await rig.expectNotLost()
    }

    /// The same, reported by the application's service: the auth service is asked about all keys before any is given
    /// up.
    @Test func w1_allKeysAreAskedAbout() async throws {
        let rig = try await FlowRig.registered()
        rig.service.script(.denied(409, "ROTATION_FAILED"))
        _ = await refusal { try await rig.identity.rotate() }
        let identity = try rig.restarted()
        for _ in 0..<3 {
            let signed = try await identity.sign("POST", path: "/x")
            _ = await identity.received(401, "BAD_SIGNATURE", for: signed)
            rig.time.advance(.seconds(3601))
        }
        #expect(identity.isRegistered)
        #expect(rig.isAccepted(try await identity.sign("POST", path: "/x")))
    }

    /// Of a key about which the service says nothing clear, it does not say that it holds another one.
    @Test func anUnclearAnswerIsNoRefusal() async throws {
        let rig = try await FlowRig.registered()
        rig.service.change { $0.devices["device-1"]?.key = "" }
        rig.service.script(.arrives, .answers(404, nil))
        #expect(await rig.identity.code(.resolve) != nil)
        #expect(try rig.service.paths == ["/self", "/self"] && rig.record().refusedAt == nil)
    }

    /// The service is asked again, which `tenon status --check` promises.
    @Test func aRefusalIsAskedAboutAgain() async throws {
        let rig = try await FlowRig.registered()
        let before = rig.service.devices
        rig.service.change { $0.devices["device-1"]?.key = "" }
        #expect(await rig.identity.code(.resolve) != nil)
        #expect(try rig.record().refusedAt != nil)
        rig.service.change { $0.devices = before }
        try await rig.restarted().maintain()
        #expect(try rig.record().refusedAt == nil)
    }

    /// Of a rotation that the service took, the record that is left knows only that it had begun.
    @Test func aRotationThatTheOlderRecordHadBegun() async throws {
        let rig = try await FlowRig.registered()
        let name = try rig.record().name
        let begun = Mutex<[UInt8]?>(nil)
        rig.service.change { [folder = rig.folder] in
            $0.onExchange = { _ in
                let older = try? folder.open().read(name.record + ".prev", atMost: 1 << 20).value?.bytes
                begun.withLock { $0 = older }
            }
        }
        try await rig.identity.rotate()
        rig.service.change { $0.onExchange = nil }
        try rig.folder.put(try #require(begun.withLock { $0 }), as: name.record + ".prev")
        try rig.folder.put("{", as: name.record)
        let identity = try rig.restarted()
        #expect(try await identity.register().status == .alreadyRegistered)
        #expect(rig.isAccepted(try await identity.sign("POST", path: "/x")))
    }

    @Test func w2_aServiceThatForgotTheNewKeyHoldsTheOldOne() async throws {
        let rig = try await FlowRig.registered()
        let before = rig.service.devices
        try await rig.identity.rotate()
        rig.service.change { $0.devices = before }
        try await rig.expectNotLost()
    }

    /// A rotation on another machine makes no key there, whether or not the device has an attestation key.
    @Test(arguments: [false, true], [AttestationRule.activation, .none])
    func w22_aKeyIsMadeOnlyInTheTPMOfTheOther(_ isBare: Bool, _ rule: AttestationRule) async throws {
        let rig = try await FlowRig.registered { $0.attestation = rule }
        if isBare { rig.vault.makeBare() }
        let keys = rig.vault.keysMade
        rig.vault.clear()
        let identity = try rig.restarted()
        #expect(await refusal { try await identity.rotate() } == .keyInvalidated)
        #expect(rig.vault.keysMade == keys)
        rig.vault.bringBack()
        try await identity.register()
        try await identity.rotate()
        #expect(rig.isAccepted(try await identity.sign("POST", path: "/x")))
        #expect(rig.service.devices.count == 1)
    }

    /// A rotation was open when the TPM went away.
    @Test func w22_aTPMThatIsBackFindsTheKeyThatIsHeld() async throws {
        let rig = try await FlowRig.registered()
        await rig.rotate(.answerLost)
        rig.vault.clear()
        let identity = try rig.restarted()
        #expect(await identity.code(.sign) == .keyInvalidated)
        rig.vault.bringBack()
        rig.service.change { $0.seen = [] }
        #expect(try await identity.register().status == .alreadyRegistered)
        // The device asks about the newest key first, and that is the one.
        #expect(rig.service.paths == ["/self"])
        #expect(rig.isAccepted(try await identity.sign("POST", path: "/x")))
        #expect(rig.service.devices.count == 1)
    }
}
