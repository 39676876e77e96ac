// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Glibc
import Synchronization
import Tenon
import TenonITWallet
import Testing

/// Each exchange and each write of an IT-Wallet instance fails once, and the next calls lead to one instance that works
/// (decision: open-outcome, removed-keys).
@Suite struct WalletFaultTests {
    private typealias Fate = ScriptedService.Fate

    enum Operation: CaseIterable { case initialization, use, renewal, reset }

    /// A device in this process.
    private struct Rig {
        let world: WalletWorld
        let vault: ScriptedVault
        let provider: ITWallet

        init() throws {
            world = try WalletWorld()
            vault = ScriptedVault(ekCertificate: world.service.ekCertificate)
            provider = try ITWallet(baseURL: "https://wallet.example/it", appID: "app", dialect: .v14)
        }

        func identity(_ calls: SystemCalls = SystemCalls()) throws(TenonError) -> DeviceIdentity {
            try DeviceIdentity(
                appID: "app", profile: provider, vault: vault, transport: world.service,
                attestationService: .init(
                    url: "https://wallet.example/ca", roots: [world.service.ca.root.certificate]),
                folder: StateFolder(at: world.temporary["state"], calls: calls), clock: world.service.time.clock)
        }

        /// Up to the operation.
        static func before(_ operation: Operation) async throws -> Rig {
            let rig = try Rig()
            guard operation != .initialization else { return rig }
            rig.world.service.change { $0.isDueAtOnce = operation == .renewal }
            let identity = try rig.identity()
            try await identity.register()
            if operation != .use { try await identity.attest(.instance, at: rig.provider) }
            return rig
        }

        func run(_ operation: Operation, _ identity: DeviceIdentity) async throws(TenonError) {
            switch operation {
            case .initialization: try await identity.register()
            case .use: try await identity.attest(.instance, at: provider)
            case .renewal: try await identity.maintain()
            case .reset: try await identity.reset()
            }
        }

        /// What an application calls sooner or later leads to one instance that works.
        func expectGoodEnd(_ operation: Operation, _ place: String) async throws {
            let identity = try identity()
            if operation == .reset {
                try await identity.reset()
                #expect(try world.files().isEmpty, "\(place)")
            }
            try await identity.register()
            let issued = try await identity.attest(.instance, at: provider)
            #expect(try issued != nil && identity.walletAttestations() == [issued].compactMap { $0 }, "\(place)")
            try world.expectAgreement(place, instances: operation == .reset ? 2 : 1)
        }
    }

    /// The key is lost while another TPM is here, and found again.
    @Test func aCallFindsItsKeyAgain() async throws {
        let rig = try await Rig.before(.use)
        rig.vault.clear()
        #expect(await refusal { try await rig.run(.use, rig.identity()) } == .keyInvalidated)
        rig.vault.bringBack()
        try await rig.run(.use, rig.identity())
        #expect(try rig.identity().walletAttestations().count == 1)
    }

    /// An attestation key that was made again is not the one that the provider knows.
    @Test func aQuoteIsByAKnownKey() async throws {
        let rig = try await Rig.before(.use)
        rig.vault.loseAttestationKeys()
        try await rig.run(.use, rig.identity())
        #expect(rig.world.store.read().value?.attestationKey?.isActivated == true)
        #expect(rig.vault.attestationKeysMade == 2)
    }

    private static let faults: [(name: String, fate: Fate)] = [
        ("not sent", .notSent), ("request lost", .requestLost), ("answer lost", .answerLost), ("garbled", .garbled),
        ("500", .answers(500, "server_error")), ("403", .answers(403, "invalid_request")),
        ("404", .answers(404, "not_found")),
    ]

    @Test("WP_150 WP_151 WP_152: each exchange fails once", arguments: [Operation.initialization, .use, .renewal])
    func exchanges(_ operation: Operation) async throws {
        var count = 0
        for (name, fate) in Self.faults {
            var (number, hasFailed) = (0, true)
            while hasFailed {
                number += 1
                let rig = try await Rig.before(operation)
                let fault = (rig.world.service.state.withLock { $0.exchanges } + number, fate)
                rig.world.service.change { $0.fault = fault }
                try? await rig.run(operation, rig.identity())
                hasFailed = rig.world.service.state.withLock { $0.fault == nil }
                rig.world.service.change { $0.fault = nil }
                try await rig.expectGoodEnd(operation, "exchange \(number), \(name)")
            }
            count += number - 1
        }
        // A nonce and the call, of an initialization two of the attestation CA before, of a renewal the status.
        #expect(count >= Self.faults.count * (operation == .initialization ? 4 : 3))
        print("it-wallet \(operation): \(count) exchanges failed once")
    }

    /// As in ``WalletKillTests``, of an initialization not each call in each run.
    @Test("WP_132 WP_139: each write fails once", arguments: Operation.allCases)
    func writes(_ operation: Operation) async throws {
        let distance = operation == .initialization ? WalletKillTests.distance : 1
        var (number, count, hasFailed) = (1, -1, true)
        while hasFailed {
            let rig = try await Rig.before(operation)
            let disk = CallPlan(.errno(EIO), at: number)
            if let identity = try? rig.identity(disk.calls) { try? await rig.run(operation, identity) }
            hasFailed = disk.made.count >= number
            try await rig.expectGoodEnd(operation, "call \(number)")
            (number, count) = (number + distance, count + 1)
        }
        #expect(number > 5)
        print("it-wallet \(operation): \(count) calls of the disk failed once")
    }

    @Test("WP_140f: a binding is confirmed by 204 alone", arguments: [200, 201, 202, 204])
    func bindings(_ status: Int) async throws {
        let rig = try await Rig.before(.use)
        // The exchange behind the one for a nonce.
        let fault = (rig.world.service.state.withLock { $0.exchanges } + 2, Fate.answers(status, nil))
        rig.world.service.change { $0.fault = fault }
        let code = await refusal { try await rig.identity().attest(.relyingParty, at: rig.provider) }
        let expected: TenonError.Code? = status == 204 ? nil : .serviceAnswer
        let isTold = rig.world.service.state.withLock { $0.fault == nil }
        #expect(code == expected && isTold)
    }

    @Test("WP_018: a renewal that fails costs nothing as long as what was issued holds, and is told after that")
    func aRenewalFails() async throws {
        let rig = try await Rig.before(.renewal)
        let (service, identity) = (rig.world.service, try rig.identity())
        let issued = try identity.walletAttestations()
        service.change { $0.fate = .answers(500, "server_error") }
        try await identity.maintain()
        service.time.advance(.seconds(400))
        #expect(await refusal { try await identity.maintain() } == .serviceBusy)
        #expect(try identity.walletAttestations() == issued && issued.count == 1)
        service.change { $0.fate = .arrives }
        try await identity.maintain()
        #expect(try identity.walletAttestations() != issued)
    }

    @Test("WP_030: the provider's keys are asked for once, and again when another one signs")
    func theProviderChangesItsKey() async throws {
        let rig = try await Rig.before(.use)
        let (service, identity, issuer) = (rig.world.service, try rig.identity(), try SoftwareKey())
        var counts: [Int] = []
        for changes in [false, false, true, false] {
            if changes { service.change { $0.issuer = issuer } }
            let before = service.state.withLock { $0.exchanges }
            _ = try #require(try await identity.attest(.instance, at: rig.provider))
            counts.append(service.state.withLock { $0.exchanges } - before)
        }
        // A nonce and the call, and the keys.
        #expect(counts == [3, 2, 3, 2])
    }
}
