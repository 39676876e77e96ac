// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Synchronization
import Tenon
import TenonSynheart
import TenonTPM
import Testing

/// What a device's life costs in TPM commands, at a running authority, with an EK of RSA-2048 and no storage key.
@Suite(.timeLimit(.minutes(1))) struct ServedCostTests {
    /// One that was kept is not read, made or loaded again (decisions: kept-primary, one-reading).
    @Test func behindAResourceManager() async throws {
        let cost = CommandCost()
        try await life(cost, isBare: false) { identity in
            try await identity.register()
            #expect(
                cost.take() == [
                    "GetCapability", "NV_ReadPublic", "GetCapability", "NV_Read", "CreatePrimary", "ReadPublic",
                    "Create", "Load", "Create", "Load", "StartAuthSession", "FlushContext", "GetCapability",
                    "ReadPublic", "StartAuthSession", "PolicySecret", "ActivateCredential", "Certify",
                ])
            _ = try await identity.sign("POST", path: "/v1/echo", body: ServedWorld.body)
            #expect(cost.take() == ["Sign"])
            try await identity.rotate()
            // The TPM has three places: the object that was loaded first gives way, here the old key, which is loaded again.
            #expect(
                cost.take() == [
                    "CreatePrimary", "ReadPublic", "FlushContext", "ReadPublic", "Create", "Load", "Certify",
                    "Load", "FlushContext", "Load", "Sign",
                ])
            try await identity.maintain()
            #expect(cost.take() == ["Sign", "FlushContext"])
        }
    }

    /// Nothing stays loaded between two calls: the commands are more.
    @Test func onABareTPM() async throws {
        let cost = CommandCost()
        try await life(cost, isBare: true) { identity in
            var counts: [Int] = []
            try await identity.register()
            counts.append(cost.take().count)
            _ = try await identity.sign("POST", path: "/v1/echo", body: ServedWorld.body)
            counts.append(cost.take().count)
            try await identity.rotate()
            counts.append(cost.take().count)
            try await identity.maintain()
            counts.append(cost.take().count)
            #expect(counts == [34, 5, 18, 5])
        }
    }

    /// A process each, as with the command: it looks at no key that it signs with anyway (decision: unseen-key).
    @Test func newProcessesOnABareTPM() async throws {
        let cost = CommandCost()
        let options = TPM.Options(trace: { cost.add($0) })
        try await ServedWorld.with(Stores.allCases[0], options: options, isBare: true) { world in
            try await world.identity(.tenon).register()
            _ = cost.take()
            try await world.identity(.tenon).rotate()
            let loadsAndSigns = ["CreatePrimary", "Load", "Sign", "FlushContext", "FlushContext"]
            let looks = ["CreatePrimary", "Load", "FlushContext", "FlushContext"]
            let makes = ["CreatePrimary", "ReadPublic", "Create", "Load", "FlushContext", "FlushContext"]
            let certifies = [
                "CreatePrimary", "Load", "Load", "Certify", "FlushContext", "FlushContext", "FlushContext",
            ]
            // The attestation key is looked at, as the service hears of a lost one first.
            #expect(cost.take() == looks + makes + certifies + loadsAndSigns)
            // It asks about the new key.
            try await world.identity(.tenon).maintain()
            #expect(cost.take() == loadsAndSigns + looks)
            // Nothing is signed: it looks at both.
            try await world.identity(.tenon).maintain()
            #expect(cost.take() == looks + looks)
        }
    }

    /// A bare TPM that was cleared between two processes: nothing is made in it, and nothing is sent.
    @Test(arguments: [false, true])
    func aClearedBareTPM(_ isMaintained: Bool) async throws {
        let cost = CommandCost()
        let options = TPM.Options(trace: { cost.add($0) })
        try await ServedWorld.with(Stores.allCases[0], options: options, isBare: true) { world in
            try await world.identity(.tenon).register()
            try await world.identity(.tenon).rotate()
            let sent = world.wire.seen.count
            #expect(support_clear(world.software.device, SUPPORT_RH_LOCKOUT, nil) == 0)
            _ = cost.take()
            let identity = try world.identity(.tenon)
            let error = await errorAwaited {
                if isMaintained { try await identity.maintain() } else { try await identity.rotate() }
            }
            #expect(error?.code == .keyInvalidated)
            #expect(try identity.status().reason == .tpmCleared)
            #expect(!cost.take().contains("Create") && world.wire.seen.count == sent)
        }
    }

    private func life(
        _ cost: CommandCost, isBare: Bool, _ body: (DeviceIdentity) async throws -> Void
    ) async throws {
        func leaveRSA(_ software: SoftwareTPM) { #expect(support_nv_remove(software.device, 0x01C0_0016) == 0) }
        let options = TPM.Options(trace: { cost.add($0) })
        try await ServedWorld.with(Stores.allCases[0], options: options, isBare: isBare, prepare: leaveRSA) { world in
            try await body(try world.identity(.tenon))
        }
    }
}

/// The commands that were sent, in order.
private final class CommandCost: Sendable {
    private let names = Mutex<[String]>([])

    func add(_ trace: TPM.Trace) { names.withLock { $0.append(trace.command) } }

    /// Those since the last call.
    func take() -> [String] {
        names.withLock { names in
            defer { names = [] }
            return names
        }
    }
}
