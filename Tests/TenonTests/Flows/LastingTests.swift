// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Testing

@testable import Tenon

/// Things that outlive others: a disk its machine, a key its TPM, a service's word the boot, a begun signature its
/// permission.
@Suite struct LastingTests {
    /// A disk was copied, before anything was registered or after a reset: its copies are devices of their own
    /// (decision: damaged-record).
    @Test(arguments: ["fresh", "reset"])
    func copiesOfADiskAreDevicesOfTheirOwn(_ state: String) async throws {
        let rig = state == "reset" ? try await FlowRig.registered() : try FlowRig()
        if state == "reset" { try await rig.identity.reset() }
        rig.vault.fail(.make, TenonError(.tpmMissing, message: "Not here."))
        #expect(await refusal { try await rig.identity.register() } == .tpmMissing)
        let name = try rig.record().name
        let bytes = try #require(rig.folder.open().read(name.record, atMost: 1 << 20).value).bytes
        for number: UInt8 in 1...3 {
            let folder = try TemporaryFolder()
            try folder.put(bytes, as: name.record)
            try await rig.restarted(with: ScriptedVault(ekCertificate: [0x30, number]), on: folder).register()
        }
        let ids = rig.sent("local_id", to: "/register").suffix(3)
        #expect(ids.count == 3 && Set(ids).count == 3)
    }

    /// Without its id nobody could tell a TPM that was cleared from another one.
    @Test func aMachineThatCouldNotBeNamedIsNamedLater() async throws {
        let rig = try FlowRig()
        rig.vault.fail(.machine, TenonError(.tpmBusy, message: "Not now."))
        rig.service.change { [vault = rig.vault] in
            $0.onExchange = { if $0 == "/register" { vault.fail(.machine, nil) } }
        }
        try await rig.identity.register()
        #expect(try rig.record().ekID == rig.vault.blockingEndorsementKeyID())
    }

    /// All tries of one device use the same local id, even after a restart.
    @Test func aDeviceHasOneLocalID() async throws {
        let rig = try FlowRig()
        rig.service.script(.arrives, .answerLost, .arrives, .answers(400, "INVALID_ATTESTATION"))
        _ = try? await rig.identity.register()
        try await rig.restarted().register()
        let ids = rig.sent("local_id", to: "/register")
        #expect(ids.count == 3 && Set(ids).count == 1)
    }

    /// Decision: one-offered-key. A key that was sent is not dropped because a TPM says that it is gone: this is
    /// reported, and only another call begins anew.
    @Test(arguments: [false, true])
    func w4_aKeyThatWasSentIsNotDroppedOnOneWord(_ isBack: Bool) async throws {
        let rig = try FlowRig()
        rig.service.change { $0.fates = [.arrives, .answerLost] + Array(repeating: .notSent, count: 8) }
        _ = try? await rig.identity.register()
        rig.vault.clear()
        let identity = try rig.restarted()
        rig.service.change { $0.fates = [] }
        #expect(await refusal { try await identity.register() } == .keyInvalidated)
        #expect(try identity.status() == IdentityStatus(state: .keyInvalid, reason: .tpmCleared))
        #expect(try rig.record().key(.current)?.isOffered == true)
        #expect(try rig.folder.open().attic().names() == [])
        if isBack { rig.vault.bringBack() }
        try await rig.restarted().register()
        #expect(rig.service.devices.count == (isBack ? 1 : 2))
        #expect(rig.vault.keysMade == (isBack ? 1 : 2))
        try await identity.register()
        #expect(rig.isAccepted(try await identity.sign("POST", path: "/x")))
    }

    @Test func aKeyThatWasNotSentIsMadeAnew() async throws {
        let rig = try FlowRig()
        rig.service.change { $0.fates = Array(repeating: .notSent, count: 9) }
        _ = try? await rig.identity.register()
        rig.vault.clear()
        rig.service.change { $0.fates = [] }
        try await rig.restarted().register()
        #expect(rig.vault.keysMade == 2 && rig.service.devices.count == 1)
    }

    /// Decision: two-refusals. Twice, an hour apart; a refusal in another boot, or long ago, does not count as the
    /// first.
    @Test(arguments: [true, false])
    func aRefusalIsOfItsTime(_ isReboot: Bool) async throws {
        let rig = try await FlowRig.registered()
        rig.service.change { $0.devices["device-1"]?.key = "" }
        #expect(try await rig.restarted().code(.rotate) == .keyRefused)
        if isReboot { rig.time.reboot(after: .seconds(7200)) } else { rig.time.advance(.seconds(7 * 86_400 + 1)) }
        #expect(try await rig.restarted().code(.rotate) == .keyRefused)
        #expect(rig.identity.isRegistered)
        // The wall clock does not matter.
        rig.time.setWall(by: .seconds(86_400))
        rig.service.change { $0.skew = -86_400 }
        rig.time.advance(.seconds(3000))
        #expect(try await rig.restarted().code(.rotate) == .keyRefused)
        rig.time.advance(.seconds(700))
        #expect(try await rig.restarted().code(.rotate) == .keyInvalidated)
        #expect(try rig.identity.status().reason == .superseded)
    }

    /// W18: the clock's known difference lasts a day, even if the machine was off in between.
    @Test func w18_theClockIsNotKeptForever() async throws {
        let rig = try await FlowRig.registered()
        rig.service.change { $0.skew = 4000 }
        try await rig.identity.rotate()
        rig.time.reboot(after: .seconds(3600))
        #expect(Int64(try await rig.restarted().sign("GET", path: "/").timestamp) == rig.time.seconds + 4000)
        rig.time.reboot(after: .seconds(86_400))
        #expect(Int64(try await rig.restarted().sign("GET", path: "/").timestamp) == rig.time.seconds)
        // The service gives the time again.
        try await rig.restarted().resolve()
        #expect(rig.isAccepted(try await rig.restarted().sign("POST", path: "/x")))
    }

    /// A request is signed by the key that may sign when the request is complete.
    @Test(arguments: [false, true])
    func w15_aBegunRequestAsksAgain(_ isBlocking: Bool) async throws {
        let rig = try await FlowRig.registered()
        func begun() async throws -> RequestSigner {
            if isBlocking { return try blocking { try rig.identity.request("POST", path: "/x") } }
            return try await rig.identity.request("POST", path: "/x")
        }
        func end(_ signer: consuming RequestSigner) async throws -> SignedRequest {
            if isBlocking { try endBlocking(signer) } else { try await signer.sign() }
        }
        func endBlocking(_ signer: consuming RequestSigner) throws -> SignedRequest { try signer.sign() }
        let rotated = try await begun()
        try await rig.identity.rotate()
        let signed = try await end(rotated)
        #expect(signed.generation == 2 && rig.isAccepted(signed))

        let revoked = try await begun()
        rig.service.change { $0.devices["device-1"]?.isRevoked = true }
        _ = try? await rig.identity.rotate()
        #expect(await refusal { try await end(revoked) } == .deviceRevoked)

        try await rig.identity.reset()
        try await rig.identity.register()
        let reset = try await begun()
        try await rig.restarted().reset()
        #expect(await refusal { try await end(reset) } == .notRegistered)
    }

    @Test func w14_aResetIdentityIsNotFoundAgain() async throws {
        let rig = try await FlowRig.registered()
        let name = try rig.record().name
        try await rig.identity.reset()
        try rig.folder.put("damaged", as: name.record)
        let identity = try rig.restarted()
        #expect(await refusal { try await identity.register() } == .recordForm)
        #expect(!identity.isRegistered)
    }

    @Test func theAtticIsShownAndPurged() async throws {
        let rig = try await FlowRig.registered()
        #expect(try await rig.identity.attic() == [])
        for _ in 0..<9 {
            try await rig.identity.reset()
            try await rig.identity.register()
        }
        let files = try await rig.identity.attic()
        let name = try rig.record().name.id
        #expect(files.count == 27 && files.allSatisfy { $0.hasPrefix(name + ".") })
        #expect(try await rig.identity.purge() == [])
        rig.time.setWall(by: .seconds(50 * 365 * 86_400))
        let purged = try await rig.identity.purge()
        #expect(purged.count == 11 && Set(purged).isSubset(of: files))
        #expect(try await rig.identity.attic() == files.filter { !purged.contains($0) })
        // Keys in use are not there.
        #expect(rig.isAccepted(try await rig.restarted().sign("POST", path: "/x")))
    }
}
