// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Glibc
import Synchronization
import Testing

@testable import Tenon

/// Weaknesses of other designs that no other suite shows: docs/weaknesses.md lists all.
@Suite struct WeaknessTests {
    /// Other designs make the deletion of the old key the point of no return: if it fails, the dead key stays active,
    /// and the next rotation destroys the accepted one.
    @Test("W3: the record is the commit point, not the store of keys")
    func w3_theRecordIsTheCommitPoint() async throws {
        let rig = try await FlowRig.registered()
        let isStuck = Mutex(true)
        let calls = SystemCalls { operation, name in
            operation == .rename && name.contains(".g1-") && isStuck.withLock { $0 } ? .errno(EIO) : nil
        }
        try await rig.restarted(calls).rotate()
        // It is retired in the record, and its file cannot be moved.
        try await rig.restarted(calls).maintain()
        #expect(try rig.record().keys.map(\.generation) == [2])
        for _ in 0..<2 {
            #expect(await refusal { try await rig.restarted(calls).rotate() } == .stateIO)
        }
        #expect(rig.isAccepted(try await rig.restarted(calls).sign("POST", path: "/x")))
        isStuck.withLock { $0 = false }
        let identity = try rig.restarted(calls)
        try await identity.rotate()
        #expect(rig.isAccepted(try await identity.sign("POST", path: "/x")))
        #expect(try rig.record().keys.map(\.generation).sorted() == [2, 3])
        #expect(try rig.folder.open().attic().names().count { $0.contains(".g1-") } == 1)
    }

    /// Over a device's life, each reported state follows the one before by an edge in the documents.
    @Test("W11: flows go by the table of transitions")
    func w11_flowsGoByTheTable() async throws {
        let rig = try FlowRig()
        let identity = rig.identity
        let states = identity.states
        rig.service.script(.arrives, .answers(503, nil), .arrives, .answers(400, "INVALID_CHALLENGE"))
        try await identity.register()
        rig.service.script(.answerLost, .garbled)
        _ = try? await identity.rotate()
        try await identity.maintain()
        rig.vault.clear()
        let other = try rig.restarted()
        let more = other.states
        _ = try? await other.register()
        try await other.register()
        rig.service.change { $0.devices["device-2"]?.isRevoked = true }
        _ = try? await other.rotate()
        try await other.reset()
        var told: [IdentityState] = []
        for await status in states {
            told.append(status.state)
            if told.count > 10, status.state == .registered { break }
        }
        try #require(told.first == .unregistered)
        #expect(told.contains(.challengeReceived) && told.count(where: { $0 == .registering }) >= 3)
        expectEdges(told)
        var rest: [IdentityState] = []
        for await status in more {
            rest.append(status.state)
            if rest.contains(.keyInvalid), rest.last == .unregistered, rest.count > 7 { break }
        }
        expectEdges(rest)
    }

    private func expectEdges(_ states: [IdentityState]) {
        for (from, to) in zip(states, states.dropFirst()) where from != to {
            #expect(IdentityStep.allCases.contains { $0.leads(from: from, to: to) }, "\(from) to \(to)")
        }
    }

    /// Other designs read state and id one after the other, and somebody may reset the device in between.
    @Test("W29: state and id are of one record")
    func w29_stateAndIDAreOfOneRecord() async throws {
        let rig = try await FlowRig.registered()
        let name = try rig.record().name.record
        let registered = try #require(rig.folder.open().read(name, atMost: 1 << 20).value).bytes
        try await rig.identity.reset()
        let reset = try #require(rig.folder.open().read(name, atMost: 1 << 20).value).bytes
        let isOver = Mutex(false)
        let thread = WorkThread()
        async let swaps: Void = thread.run { () throws(TenonError) in
            for turn in 0... {
                if isOver.withLock({ $0 }) { return }
                try? rig.folder.put(turn.isMultiple(of: 2) ? registered : reset, as: "next")
                rename(rig.folder["next"], rig.folder[name])
            }
        }
        var seen: Set<IdentityStatus> = []
        var (last, changes) = (try rig.identity.status(), 0)
        while changes < 500 {
            let status = try rig.identity.status()
            seen.insert(status)
            if status != last { changes += 1 }
            last = status
        }
        isOver.withLock { $0 = true }
        try await swaps
        #expect(
            seen == [
                IdentityStatus(state: .registered, deviceID: "device-1"), IdentityStatus(state: .unregistered),
            ])
    }
}
