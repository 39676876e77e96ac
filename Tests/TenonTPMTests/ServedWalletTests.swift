// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Synchronization
import Tenon
import TenonAuthority
import TenonITWallet
import TenonTPM
import TestFolders
import Testing

/// A device as an IT-Wallet instance, at a running authority, over HTTP, with a software TPM.
@Suite(.timeLimit(.minutes(2))) struct ServedWalletTests {
    private var world: ServedWorld { .current }

    @Test(
        "WP_131 WP_132 WP_133 WP_135 WP_137: an instance is initialized, and a restart finds it",
        arguments: Stores.allCases)
    func initializes(_ stores: Stores) async throws {
        try await ServedWorld.with(stores) { world in
            let identity = try world.wallet(.seed)
            let registration = try await identity.register()
            #expect(registration.status == .registered)
            // The certificate of the attestation key, twice two; then one nonce, and one initialization.
            #expect(world.wire.paths.filter { $0.hasPrefix("/it-wallet") }.count == 2)
            #expect(world.wire.paths.count == 4)
            #expect(try TextEncoding.base64url.decode(registration.deviceID).count == 32)
            let again = try world.wallet(.seed)
            #expect(try await again.register().status == .alreadyRegistered)
            #expect(again.deviceID == registration.deviceID)
            #expect(try await world.devices("wallet").count == 1)
        }
    }

    @Test("WP_135: a lost 204 is repaired with the same key and tag under a new nonce", .world)
    func lostAnswer() async throws {
        world.wire.lose("/application-instances")
        let identity = try world.hurriedWallet(.seed)
        let registration = try await identity.register()
        #expect(world.wire.paths.filter { $0.hasSuffix("/nonce") }.count == 2)
        let devices = try await world.devices("wallet")
        #expect(devices.map { $0["device_id"]?.string } == [registration.deviceID])
    }

    @Test("WP_026 WP_134 WP_140 WP_140b WP_140d WP_140e WP_140f WP_141 WP_142 WP_143a WP_144: each call", .world)
    func calls() async throws {
        for (dialect, calls) in [
            (WalletDialect.v14, [WalletCall.instance, .unit, .key]), (.v10, [.wallet]),
        ] {
            let place = dialect.name
            let identity = try world.wallet(dialect, in: place)
            try await identity.register()
            var keys: Set<PublicKey> = []
            for call in calls {
                let before = world.wire.paths.count
                let issued = try #require(
                    try await identity.attest(call, at: world.provider(dialect)), "\(call.name)")
                #expect(issued.expiresAt ?? 0 > (issued.issuedAt ?? 0) && issued.call == call.name)
                keys.insert(issued.key)
                // A nonce and the call; the provider's keys are asked for once.
                #expect(world.wire.paths.count - before == (keys.count == 1 ? 3 : 2))
            }
            #expect(keys.count == calls.count)
            // A relying party's instance is bound; nothing is issued.
            #expect(try await identity.attest(.relyingParty, at: world.provider(dialect)) == nil)
            #expect(try identity.walletAttestations().map(\.call) == calls.map(\.name))
            #expect(try world.wallet(dialect, in: place).walletAttestations().count == calls.count)
        }
    }

    @Test("WP_140b WP_140d WP_140e: one Sign of the hardware key, one Quote, and one Sign of the fresh key", .world)
    func commands() async throws {
        let (identity, _, provider) = try await world.instance()
        _ = try await identity.attest(.instance, at: provider)
        support_transport_reset_counts(world.software.wire)
        _ = try await identity.attest(.instance, at: provider)
        #expect(world.software.commands(0x15d) == 2)
        #expect(world.software.commands(0x158) == 1)
    }

    @Test("WP_018: maintain renews what was issued after two thirds of its life", .world)
    func renews() async throws {
        let (identity, _, provider) = try await world.instance()
        let first = try #require(try await identity.attest(.instance, at: provider))
        try await identity.maintain()
        #expect(try identity.walletAttestations().map(\.text) == [first.text])
        let life = (first.expiresAt ?? 0) - (first.issuedAt ?? 0)
        world.clock.shift(by: life * 2 / 3 + 1)
        world.wire.setClock(by: life * 2 / 3 + 1)
        let later = try world.hurriedWallet(.v14)
        try await later.maintain()
        let renewed = try #require(later.walletAttestations().first)
        #expect(renewed.text != first.text && renewed.key != first.key)
    }

    @Test("WP_010 WP_139 WP_149 WP_153: a confirmed revocation ends all use, and a reset leaves no copy of a key")
    func revoked() async throws {
        try await ServedWorld.with(.sqlite) { world in
            let (identity, tag, provider) = try await world.instance()
            try await identity.attest(.instance, at: provider)
            #expect(try await identity.walletStatus(at: provider) == .active)
            _ = try await world.authorities[0].admin(
                "POST", "/v1/revoke", ["app_id": "wallet", "device_id": .string(tag), "reason": "lost"])
            #expect(await refusal(identity, provider) == .deviceRevoked)
            #expect(try identity.status().reason == .revoked)
            let asked = world.wire.paths.filter { $0.hasSuffix("/wallet-instances/" + tag) }
            // Once before, and twice to be sure.
            #expect(asked.count == 3)
            #expect(await refusal(identity, provider) == .deviceRevoked)
            #expect(await errorAwaited { try await identity.register() }?.code == .deviceRevoked)
            #expect(try world.blobs().isEmpty == false)
            try await identity.reset()
            #expect(try world.blobs().isEmpty)
            #expect(try world.files().allSatisfy { $0.hasSuffix(".lock") })
            #expect(try await identity.register().deviceID != tag)
        }
    }

    @Test("WP_041 WP_042 WP_043 WP_044 WP_153 WP_154 WP_155: a refusal at a call says nothing about the key", .world)
    func refusedCalls() async throws {
        let (identity, tag, provider) = try await world.instance()
        for status in [400, 401, 403, 409, 422, 500, 503] {
            world.wire.answer("/wallet-instance-attestations", status, with: ["error": "invalid_request"])
            let error = await errorAwaited { try await identity.attest(.instance, at: provider) }
            #expect(error?.httpStatus == status)
            #expect(try identity.status().isRegistered && identity.deviceID == tag)
        }
        // Nor does the status of another instance.
        world.wire.answer("/wallet-instances/" + tag, with: ["id": "another", "status": "REVOKED", "is_revoked": true])
        #expect(await errorAwaited { try await identity.walletStatus(at: provider) } != nil)
        _ = try #require(try await identity.attest(.instance, at: provider))
    }

    @Test("WP_152: an instance that the provider does not know is initialized again, with its key and tag", .world)
    func unknownInstance() async throws {
        let (identity, tag, _) = try await world.instance()
        world.wire.answer("/wallet-instance-attestations", 404, with: ["error": "not_found"])
        _ = try #require(try await identity.attest(.instance, at: world.provider(.v14)))
        #expect(world.wire.paths.filter { $0.hasSuffix("/instance-initialization") }.count == 2)
        #expect(identity.deviceID == tag)
        #expect(try await world.devices("wallet").count == 1)
    }

    @Test("WP_030 WP_031: what another issued, or for another key, is not kept", .world)
    func foreignAttestation() async throws {
        var (identity, _, provider) = try await world.instance()
        let first = try #require(try await identity.attest(.instance, at: provider))
        // The one before, which is about another key.
        let other: [String: JSON] = ["wallet_instance_attestation": .string(first.text)]
        world.wire.answer("/wallet-instance-attestations", with: other)
        #expect(await refusal(identity, provider) == .serviceAnswer)
        provider.issuerKeys = [try SoftwareKey().publicKey]
        #expect(await refusal(identity, provider) == .serviceAnswer)
        #expect(try identity.walletAttestations().map(\.text) == [first.text])
    }

    private func refusal(_ identity: DeviceIdentity, _ provider: ITWallet) async -> TenonError.Code? {
        await errorAwaited { try await identity.attest(.instance, at: provider) }?.code
    }

    @Test("WP_140a: a cleared TPM ends the identity, and another instance begins with another tag", .world)
    func cleared() async throws {
        let (identity, tag, provider) = try await world.instance()
        _ = try #require(try await identity.attest(.instance, at: provider))
        #expect(support_clear(world.software.device, 0x4000_000a, nil) == 0)
        #expect(await refusal(identity, provider) == .keyInvalidated)
        let next = try await identity.register()
        #expect(next.status == .registered && next.deviceID != tag)
        #expect(try identity.walletAttestations().isEmpty)
        _ = try #require(try await identity.attest(.instance, at: provider))
    }

    @Test("WP_132a: a key of which nothing was sent is replaced by the next initialization; one that was sent is not")
    func unsentKey() async throws {
        try await ServedWorld.with(.sqlite) { world in
            // No nonce, so nothing is sent of the key.
            world.wire.change("/nonce") { _ throws(TenonError) in
                throw TenonError(.serviceRefused, message: "No nonce.")
            }
            let identity = try world.hurriedWallet(.seed)
            #expect(
                await errorAwaited { try await identity.register() }?.code
                    == .serviceRefused)
            #expect(try world.keyFiles().map { $0.hasSuffix(".g1.pem") } == [true])
            for _ in 0..<5 { world.wire.lose("/application-instances") }
            _ = await errorAwaited { try await identity.register() }
            // This one was sent.
            try await identity.register()
            #expect(try world.keyFiles().map { $0.hasSuffix(".g2.pem") } == [true])
            #expect(try world.files().contains { $0.hasPrefix("attic/") && $0.contains(".g1-") })
            #expect(try await world.devices("wallet").count == 1)
        }
    }

    @Test("WP_014c: a person unlocks each use, a wrong value counts, and a locked TPM is no lost key", .world)
    func unlocks() async throws {
        let person = Person()
        let identity = try DeviceIdentity(
            world.provider(.v14),
            keys: .tpm(
                world.tpm, disclosure: .endorsement(above: [try Endorsed.issuer()]),
                unlock: { () throws(TenonError) in person.answer() }),
            transport: world.wire, attestationService: world.walletCA, stateDirectory: "\(world.folder)/device")
        try await identity.register()
        // Once to make the key, and once to certify it.
        #expect(person.asked == 2)
        _ = try #require(try await identity.attest(.instance, at: world.provider(.v14)))
        // To make the fresh key, and for a signature of each key.
        #expect(person.asked == 5)
        person.say("wrong")
        let error = await errorAwaited { try await identity.attest(.instance, at: world.provider(.v14)) }
        #expect(error?.code.category == .auth)
        #expect(try await world.tpm.info().lockout.failedTries == 1)
        #expect(try identity.status().isRegistered)
        person.say("1234")
        _ = try #require(try await identity.attest(.instance, at: world.provider(.v14)))
    }

    @Test("WP_021 WP_022: a TPM that is locked is refused before a key is made and before anything is sent", .world)
    func lockedTPM() async throws {
        #expect(support_lock_out(world.software.device, nil, nil) == 0)
        let identity = try world.wallet(.seed)
        let error = await errorAwaited { try await identity.register() }
        #expect(error?.code == .attestationUnavailable)
        #expect(world.wire.paths.isEmpty)
        #expect(try world.keyFiles().isEmpty)
    }
}

/// Somebody who is asked for a PIN.
private final class Person: Sendable {
    private let state = Mutex((value: "1234", asked: 0))

    var asked: Int { state.withLock { $0.asked } }

    func say(_ value: String) { state.withLock { $0.value = value } }

    func answer() -> [UInt8] {
        state.withLock { state in
            state.asked += 1
            return Array(state.value.utf8)
        }
    }
}

extension ServedWorld {
    func provider(_ dialect: WalletDialect) throws(TenonError) -> ITWallet {
        try ITWallet(baseURL: authorities[0].url + "/it-wallet/wallet", appID: "wallet", dialect: dialect)
    }

    var walletCA: DeviceIdentity.AttestationService {
        .init(url: "\(authorities[0].url)/ca/wallet", roots: authorities[0].instance.engine.keys.roots)
    }

    /// An instance of version 1.4 that is initialized, its tag, and its provider.
    func instance() async throws -> (identity: DeviceIdentity, tag: String, provider: ITWallet) {
        let identity = try wallet(.v14)
        return (identity, try await identity.register().deviceID, try provider(.v14))
    }

    /// Starts a process of an instance.
    func wallet(_ dialect: WalletDialect, in place: String = "device") throws -> DeviceIdentity {
        try DeviceIdentity(
            provider(dialect), keys: .tpm(tpm, disclosure: .endorsement(above: [try Endorsed.issuer()])),
            transport: wire, attestationService: walletCA, stateDirectory: "\(folder)/\(place)")
    }

    /// The same for a process that does not wait between its tries and uses the wire's clock.
    func hurriedWallet(_ dialect: WalletDialect, in place: String = "device") throws -> DeviceIdentity {
        try DeviceIdentity(
            appID: "wallet", profile: provider(dialect),
            vault: TPMKeyVault(tpm, .endorsement(above: [try Endorsed.issuer()])), transport: wire,
            attestationService: walletCA, folder: StateFolder(at: folder + "/" + place), clock: hurriedClock)
    }

    /// The names of the files of the device's state, those of the attic too.
    func files(in place: String = "/device") throws -> [String] {
        try fileNames(in: folder + place).flatMap { name in
            name == "attic" ? try files(in: place + "/attic").map { "attic/" + $0 } : [name]
        }
    }

    /// The key files that are in use.
    func keyFiles() throws -> [String] {
        try files().filter { $0.contains(".g") && $0.hasSuffix(".pem") && !$0.hasPrefix("attic/") }
    }

    /// The files that hold a private area, as PEM or as base64 within a record.
    func blobs() throws -> [String] {
        try files().filter { name in
            let text = String(decoding: try readFile("\(folder)/device/\(name)"), as: UTF8.self)
            // The beginning of a PEM, also as base64 at each of three offsets.
            return ["TSS2 PRIVATE KEY", "VFNTMiBQUklWQVRFIEtFW", "RTUzIgUFJJVkFURSBLRV", "UU1MyIFBSSVZBVEUgS0VZ"]
                .contains { text.contains($0) }
        }
    }
}
