// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Glibc
import Synchronization
import Tenon
import Testing

/// Whenever the process ends, the device comes to sign with the key that the service holds (W2, W10, W12).
@Suite struct CutTests {
    enum Operation: CaseIterable { case register, rotate, settle, retire, reset }

    static let fates: [ScriptedService.Fate] = [.arrives, .answerLost, .late]

    private func rig(_ operation: Operation) async throws -> FlowRig {
        if operation == .register { return try FlowRig() }
        let rig = try await FlowRig.registered()
        if operation == .settle {
            await rig.rotate(.answerLost)
        }
        if operation == .retire { try await rig.identity.rotate() }
        return rig
    }

    private func run(_ operation: Operation, _ identity: DeviceIdentity) async throws {
        switch operation {
        case .register: try await identity.register()
        case .rotate: try await identity.rotate()
        case .settle, .retire: try await identity.maintain()
        case .reset: try await identity.reset()
        }
    }

    @Test(arguments: Operation.allCases, [0, 1, 2])
    func w10_aCutAtEachCallLosesNothing(_ operation: Operation, _ fate: Int) async throws {
        // These operations send nothing whose loss would matter.
        guard fate == 0 || ![.retire, .reset].contains(operation) else { return }
        let whole = CallPlan()
        let counted = try await rig(operation)
        try await run(operation, counted.restarted(whole.calls))
        #expect(whole.made.count > 5)
        for cut in 1...whole.made.count + 1 {
            let rig = try await rig(operation)
            let before = rig.service.devices.count
            let fates = [Self.fates[fate], Self.fates[fate]]
            rig.service.change { $0.fates = (operation == .register ? [.arrives] : []) + fates }
            // As if the process had been killed there.
            let disk = CallPlan(.errno(EIO), at: cut, onward: true)
            if let identity = try? rig.restarted(disk.calls) { try? await run(operation, identity) }
            rig.service.deliverLate()
            if operation == .reset {
                // It is begun anew, or as it was.
                try await rig.restarted().register()
                let signed = try await rig.restarted().sign("POST", path: "/x")
                #expect(rig.isAccepted(signed), "cut \(cut)")
                #expect(rig.service.devices.count <= before + 1)
            } else {
                try await rig.expectNotLost()
            }
            #expect(rig.vault.keysMade <= 2 + (operation == .settle ? 0 : 1), "cut \(cut)")
        }
    }

    /// When the first byte is sent, the disk already has everything that a new process needs: the key, and the note
    /// that the service may know it.
    @Test func w1_theDiskKnowsBeforeTheNetworkDoes() async throws {
        let rig = try FlowRig()
        let seen = Mutex<[(path: String, record: IdentityRecord?, files: [String])]>([])
        rig.service.change {
            $0.onExchange = { path in
                let files = (try? rig.folder.open().names()) ?? []
                let record = try? rig.record()
                seen.withLock { $0.append((path, record, files)) }
            }
        }
        try await rig.identity.register()
        try await rig.identity.rotate()
        let moments = seen.withLock { $0 }.filter { $0.path != "/challenge" }
        #expect(moments.map(\.path) == ["/register", "/rotate"])
        for (moment, role) in zip(moments, [KeyRole.current, .next]) {
            let record = try #require(moment.record)
            let key = try #require(record.key(role))
            #expect(key.isOffered)
            #expect(record.state == .registering)
            #expect(record.journal?.phase == .sent && record.journal?.newGeneration == key.generation)
            #expect(moment.files.contains("\(record.name.id).g\(key.generation).pem"))
        }
    }
}
