// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Tenon
import TenonAuthority
import TenonSynheart
import TenonTPM
import Testing

/// An identity whose TPM is another one or was cleared, and what it keeps of what it was told; at a running authority, by
/// its credential (`tenon`) or with a certificate of its attestation CA (`docs`).
@Suite(.timeLimit(.minutes(1))) struct DeviceIdentityTests {
    private var world: ServedWorld { .current }

    @Test(.world, arguments: [Dialect.tenon, .docs])
    func registersWithAProofThatHolds(_ dialect: Dialect) async throws {
        try await world.identity(dialect).register()
        let asked = world.wire.paths.map { $0.split(separator: "/").last }
        #expect(asked == (dialect == .tenon ? [] : ["attest", "secret"]) + ["challenge", "register"])
        let again = try world.identity(dialect, on: world.software.tpm())
        try await world.expectSigns(again)
        #expect(try await again.register().status == .alreadyRegistered)
    }

    /// The disk of a registered device in another machine, and back (decision: other-machine, attic).
    @Test("W22: a record in another machine", .world, arguments: [false, true])
    func w22_aRecordInAnotherMachine(_ isBlocking: Bool) async throws {
        let registered = try await world.identity(.tenon).register()
        let (sent, devices) = (world.wire.seen.count, try await world.devices())
        try await withTPM { _, other in
            let moved = try world.identity(.tenon, on: other)
            #expect(await code(moved, isBlocking) == .keyInvalidated)
            #expect(try moved.status().state == .keyInvalid)
            #expect(try moved.status().reason == .foreignTPM)
            // Nothing begins anew without a request: nothing was made, sent or moved away.
            #expect(try await moved.attic() == [])
            #expect(world.wire.seen.count == sent)
        }
        let back = try world.identity(.tenon)
        // No other step is needed.
        #expect(await code(back, isBlocking) == nil)
        #expect(try await back.register().deviceID == registered.deviceID)
        #expect(try await world.devices() == devices)
        #expect(world.wire.seen.count == sent)
        #expect(await code(back, isBlocking) == nil)
    }

    /// The same machine, whose TPM was cleared: its endorsement key says so. On a bare TPM the signature finds it.
    @Test(arguments: [false, true], [false, true])
    func aClearedTPMIsNoOtherMachine(_ isBlocking: Bool, _ isBare: Bool) async throws {
        try await ServedWorld.with(.sqlite, isBare: isBare) { world in
            try await world.identity(.tenon).register()
            #expect(support_clear(world.software.device, SUPPORT_RH_LOCKOUT, nil) == 0)
            let cleared = try world.identity(.tenon, on: world.software.tpm())
            #expect(await code(cleared, isBlocking) == .keyInvalidated)
            #expect(try cleared.status().reason == .tpmCleared)
        }
    }

    /// A process that had the key loaded registers anew after a clear, too.
    @Test(arguments: [false, true])
    func theProcessThatHadTheKeyLoaded(_ isBare: Bool) async throws {
        try await ServedWorld.with(.sqlite, isBare: isBare) { world in
            let device = try world.identity(.tenon)
            try await device.register()
            #expect(support_clear(world.software.device, SUPPORT_RH_LOCKOUT, nil) == 0)
            #expect(await code(device, false) == .keyInvalidated)
            try await device.register()
            #expect(await code(device, false) == nil)
        }
    }

    /// The CA, its roots and the certificates above the TPM's are kept by the record, once they were taken: of a
    /// cleared TPM, and after a reset. That the certificate may be shown is said each time.
    @Test(.world, arguments: [Dialect.tenon, .docs])
    func whatWasToldOnceNeedNotBeToldAgain(_ dialect: Dialect) async throws {
        try await world.identity(dialect).register()
        #expect(support_clear(world.software.device, SUPPORT_RH_LOCKOUT, nil) == 0)
        let again = try world.software.tpm()
        let cleared = try world.identity(dialect, on: again, isTold: false)
        #expect(await code(cleared, false) == .keyInvalidated)
        let hidden = try world.identity(dialect, on: again, isTold: false, disclosure: .nothing)
        #expect(await errorAwaited { try await hidden.register() }?.code == .attestationUnavailable)
        #expect(try cleared.status().reason == .tpmCleared)
        try await cleared.register()
        #expect(await code(cleared, false) == nil)
        try await cleared.reset()
        try await cleared.register()
        #expect(await code(cleared, false) == nil)
    }

    /// The error of signing, if any.
    private func code(_ identity: DeviceIdentity, _ isBlocking: Bool) async -> TenonError.Code? {
        if isBlocking { return Self.blocking(identity)?.code }
        return await errorAwaited { try await identity.sign("GET", path: "/") }?.code
    }

    private static func blocking(_ identity: DeviceIdentity) -> TenonError? {
        errorThrown { try identity.sign("GET", path: "/") }
    }

    /// A proof that a verifier asks for holds for its nonce, and for the key that signs.
    @Test(.world) func attestsToWhoeverAsks() async throws {
        let identity = try world.identity(.tenon)
        let (nonce, other) = (try Digest(hashing: [1]), try Digest(hashing: [2]))
        #expect(await errorAwaited { try await identity.attest(nonce: nonce) }?.code == .notRegistered)
        try await identity.register()
        let made = try await identity.attest(nonce: nonce)
        #expect(try await world.devices()[0]["key_thumbprint"]?.string == made.publicKey.thumbprint)
        let policy = ProofPolicy(trust: .ak(made.attestationKey), now: world.clock.now().seconds)
        try made.proof.verify(made.publicKey, nonce: nonce, policy: policy)
        #expect(made.proof.report(on: made.publicKey, nonce: other, policy: policy).verdict != .accepted)
        #expect(try made.proof.evidence().certificates.isEmpty)
        try made.attestationKey.verifyIsAttestationKey()
        #expect(world.wire.paths.count == 2)
    }
}
