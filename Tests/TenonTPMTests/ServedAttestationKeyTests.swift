// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Tenon
import TenonAuthority
import TenonHTTP
import TenonSynheart
import TenonTPM
import Testing

/// The attestation key of a device at a running authority.
@Suite(.timeLimit(.minutes(1))) struct ServedAttestationKeyTests {
    private var world: ServedWorld { .current }

    /// Decision: command-and-code, ak-certificate. The file of the attestation key is another TPM's. The authority
    /// hears of a new one by an activation, and the device rotates on.
    @Test(arguments: Stores.allCases)
    func aLostOneIsActivatedAnew(_ stores: Stores) async throws {
        try await ServedWorld.with(stores) { world in
            let registered = try await world.identity(.tenon).register()
            let before = try world.record()
            try await withTPM { _, other in
                let vault = TPMKeyVault(other)
                let key = try await vault.makeKey()
                try world.replaceAttestationKey(await vault.makeAttestationKey(beside: key))
            }
            let identity = try world.identity(.tenon)
            try await identity.maintain()
            let after = try world.record()
            #expect(after.attestationKey?.facts.name != before.attestationKey?.facts.name)
            #expect(after.attestationKey?.isActivated == true && after.attestationKey?.certificate != nil)
            #expect(after.keys == before.keys && after.state == .registered)
            try await identity.rotate()
            try await world.expectSigns(identity)
            #expect(try await identity.register().deviceID == registered.deviceID)
        }
    }

    /// Decision: ak-certificate. At two thirds of its life, by an activation of its own or by the attestation CA.
    @Test(.world, arguments: [Dialect.docs, .tenon])
    func itsCertificateIsRenewed(_ dialect: Dialect) async throws {
        try await world.identity(dialect).register()
        let first = try #require(try world.record().attestationKey)
        try await world.identity(dialect, later: 59).maintain()
        #expect(try world.record().attestationKey == first)
        try await world.identity(dialect, later: 61).maintain()
        let second = try #require(try world.record().attestationKey)
        #expect(second.facts == first.facts && second.certificate?.serial != first.certificate?.serial)
        try await world.expectSigns(try world.identity(dialect))
    }

    /// The registration ended after the CA's answer, and goes on when the certificate has ended.
    @Test(.world) func anEndedCertificateIsNotShown() async throws {
        world.wire.answer("/challenge", 403, with: ["code": "UNKNOWN_APP"])
        #expect(await errorAwaited { try await world.hurried(.docs).register() } != nil)
        #expect(try world.record().attestationKey?.certificate != nil)
        world.clock.shift(by: 100 * 86_400)
        world.wire.setClock(by: 100 * 86_400)
        #expect(try await world.hurried(.docs).register().status == .registered)
    }

    /// The service answers with what it gave to an earlier key.
    @Test(.world) func theCertificateOfAnotherKeyIsNotKept() async throws {
        let identity = try world.identity(.tenon)
        let first = Mutex<[UInt8]>([])
        world.wire.change("/register") { answer throws(TenonError) in
            first.withLock { $0 = answer.body }
            return answer
        }
        try await identity.register()
        #expect(try world.record().attestationKey?.certificate != nil)
        try await identity.reset()
        world.wire.change("/register") { answer throws(TenonError) in
            var answer = answer
            answer.body = first.withLock { $0 }
            return answer
        }
        try await identity.register()
        let ak = try world.record().attestationKey
        #expect(ak?.isActivated == true && ak?.certificate == nil)
    }

    /// Its certificate is shown to no other service.
    @Test(.world) func aResetPutsItsCertificateAway() async throws {
        let identity = try world.identity(.tenon)
        try await identity.register()
        try await identity.reset()
        let left = try StateFolder(at: world.folder + "/device").names()
        #expect(!left.contains { $0.hasSuffix(".ak.crt") || $0.hasSuffix(".prev") })
        #expect(try await identity.attic().contains { $0.hasSuffix(".ak.crt") })
    }
}

extension ServedWorld {
    private var store: RecordStore {
        get throws {
            RecordStore(
                try IdentityName(profile: "synheart", baseURL: authorities[0].url + "/auth", appID: "demo"),
                in: try StateFolder(at: folder + "/device"))
        }
    }

    fileprivate func record() throws -> IdentityRecord {
        guard case .found(let record) = try store.read() else { throw TenonError(.stateMissing, message: "") }
        return record
    }

    /// Replaces the device's attestation key with another one.
    fileprivate func replaceAttestationKey(_ facts: KeyFacts) throws {
        let store = try store
        let held = try store.lock.acquire(within: .seconds(5))
        defer { held.release() }
        try store.change(held) { $0.attestationKey?.facts = facts }
    }

    /// Starts a process of the device, this many days from now.
    fileprivate func identity(_ dialect: Dialect, later days: Int64) throws -> DeviceIdentity {
        let clock = FlowClock(
            moment: {
                let now = FlowClock.system.moment()
                return Moment(continuous: now.continuous, sinceEpoch: now.sinceEpoch + .seconds(days * 86_400))
            }, boot: "boot", wait: { _ in }, draw: { _ in .zero })
        return try DeviceIdentity(
            appID: "demo", profile: Synheart(baseURL: authorities[0].url + "/auth", appID: "demo", dialect: dialect),
            vault: TPMKeyVault(tpm, .endorsement(above: [Endorsed.issuer()])), transport: HTTPTransport(),
            attestationService: .init(
                url: authorities[0].url + "/ca/demo", roots: authorities[0].instance.engine.keys.roots),
            folder: StateFolder(at: folder + "/device"), clock: clock)
    }
}
