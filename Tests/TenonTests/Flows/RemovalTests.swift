// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Glibc
import Synchronization
import Tenon
import Testing

/// A service that demands that keys are removed when an identity ends, and not set aside (decision: removed-keys).
@Suite struct RemovalTests {
    /// An identity with everything that can be left of one: a previous record, a key in the attic, and results.
    private func rig() async throws -> FlowRig {
        let rig = try await FlowRig.registered { $0.removesKeys = true }
        try await rig.identity.rotate()
        try await rig.identity.maintain()
        try await rig.identity.use { use throws(TenonError) in try await use.keep(Array("results".utf8)) }
        return rig
    }

    private func files(_ rig: FlowRig) throws -> [String] {
        let folder = try rig.folder.open()
        return try folder.names().filter { $0 != "attic" && !$0.hasSuffix(".lock") } + folder.attic().names()
    }

    @Test(arguments: [false, true])
    func aResetLeavesNothing(_ isBlocking: Bool) async throws {
        let rig = try await rig()
        #expect(try rig.identity.results() == Array("results".utf8))
        #expect(try files(rig).count > 4)
        if isBlocking { try rig.identity.reset(waitingAtMost: .seconds(1)) } else { try await rig.identity.reset() }
        #expect(try files(rig).isEmpty)
        #expect(try rig.identity.results() == nil)
        #expect(try await rig.restarted().register().status == .registered)
    }

    @Test func aCutAtEachCallIsFinishedByWhateverComesNext() async throws {
        let whole = CallPlan()
        let counted = try await rig()
        try await counted.restarted(whole.calls).reset()
        #expect(whole.made.count > 8)
        for cut in 1...whole.made.count + 1 {
            let rig = try await rig()
            let old = try Set(rig.record().keys.map(\.facts.pem))
            // As if the process had been killed there.
            let disk = CallPlan(.errno(EIO), at: cut, onward: true)
            if let identity = try? rig.restarted(disk.calls) { _ = try? await identity.reset() }
            // Either nothing was removed, or the next call removes the rest and begins another identity.
            let next = try rig.restarted()
            let status = try await next.register().status
            if status == .alreadyRegistered {
                #expect(try Set(rig.record().keys.map(\.facts.pem)) == old, "cut \(cut)")
                try await next.reset()
                #expect(try files(rig).isEmpty, "cut \(cut)")
            } else {
                let folder = try rig.folder.open()
                for name in try folder.names() where !name.hasSuffix(".lock") && name != "attic" {
                    let found = text(of: name, in: folder) ?? ""
                    for pem in old { #expect(!found.contains(String(decoding: pem, as: UTF8.self)), "cut \(cut)") }
                }
                #expect(try folder.attic().names().isEmpty, "cut \(cut)")
            }
        }
    }

    @Test func anotherServiceKeepsItsKeysInTheAttic() async throws {
        let rig = try await FlowRig.registered()
        try await rig.identity.reset()
        #expect(try rig.folder.open().attic().names().contains { $0.contains(".g1-") })
    }
}

/// A key from before of which nothing was sent, at a service that wants a fresh one.
@Suite struct UnsentKeyTests {
    private func rig() throws -> FlowRig { try FlowRig { $0.replacesUnsentKey = true } }

    @Test func itIsReplacedOnceACall() async throws {
        let rig = try rig()
        rig.service.change { $0.fates = [.answers(403, "NO")] }
        #expect(await refusal { try await rig.identity.register() } != nil)
        #expect(rig.vault.keysMade == 1)
        // Tried twice within one call: the key of the first try is used.
        rig.service.change { $0.fates = [.notSent] }
        try await rig.restarted().register()
        #expect(rig.vault.keysMade == 2)
        // The next operation sweeps.
        try await rig.restarted().maintain()
        #expect(try rig.folder.open().attic().names().contains { $0.contains(".g1-") })
    }

    @Test func oneThatWasSentIsNot() async throws {
        let rig = try rig()
        rig.service.change { $0.fates = [.arrives] + Array(repeating: .answerLost, count: 9) }
        #expect(await refusal { try await rig.identity.register() } != nil)
        rig.service.change { $0.fates = [] }
        try await rig.restarted().register()
        #expect(rig.vault.keysMade == 1)
        #expect(rig.service.devices.count == 1)
    }
}

/// What a service's calls are lent.
@Suite struct ServiceUseTests {
    @Test func onlyARegisteredDeviceHasCalls() async throws {
        let rig = try FlowRig()
        #expect(await refusal { try await rig.identity.use { use throws(TenonError) in use.time } } == .notRegistered)
        try await rig.identity.register()
        #expect(try await rig.identity.use { use throws(TenonError) in use.device.deviceID } == rig.identity.deviceID)
    }

    @Test func aRevocationIsAskedForTwice() async throws {
        let rig = try await FlowRig.registered()
        let asked = Mutex(0)
        func revoke(_ answers: [Bool]) async throws(TenonError) -> Bool {
            try await rig.identity.use { use throws(TenonError) in
                try await use.revokeIfConfirmed { () throws(TenonError) in
                    let number = asked.withLock { asked in
                        defer { asked += 1 }
                        return asked
                    }
                    return answers[number]
                }
            }
        }
        #expect(try await !revoke([true, false]))
        #expect(try rig.identity.status().isRegistered)
        asked.withLock { $0 = 0 }
        #expect(try await revoke([true, true]))
        #expect(try rig.restarted().status().reason == .revoked)
        #expect(await refusal { try await revoke([true, true]) } == .deviceRevoked)
    }

    @Test func aLostKeyEndsTheIdentity() async throws {
        let rig = try await FlowRig.registered()
        rig.vault.clear()
        #expect(
            await refusal {
                try await rig.identity.use { use throws(TenonError) in
                    try await use.signature(for: .clientData(Array("{}".utf8)))
                }
            } == .keyInvalidated)
    }
}
