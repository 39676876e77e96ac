// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Tenon
import Testing

/// Processes that end, or fork, while requests of version 2 share a command of the key.
@Suite(.timeLimit(.minutes(3))) struct SharingProcessTests {
    private func world() throws -> DeviceWorld {
        let world = try DeviceWorld()
        world.service.change { $0.signing = ["versions": [1, 2], "hosts": ["service.example"]] }
        try world.expect(["register": "ok"], "before")
        return world
    }

    private func files(_ world: DeviceWorld) throws -> [String: [UInt8]] {
        let folder = world.store.folder
        return try Dictionary(
            uniqueKeysWithValues: folder.names().map { ($0, folder.read($0, atMost: 1 << 20).value?.bytes ?? []) })
    }

    /// kill -9 while a batch is signed: its requests are lost, and nothing else. Nothing of them was written down.
    @Test func aKilledProcessLosesItsRequestsOnly() async throws {
        let world = try world()
        let before = try files(world)
        let child = try world.child()
        #expect(child.perform("share", at: world.service) == "waiting")
        child.kill()
        #expect(child.wait() == -9)
        #expect(try files(world) == before)
        try world.expect(["try": "ok", "rotate": "ok", "try": "ok"], "after")
        try await world.expectTidy("after")
    }

    /// A child could sign with what it shares with its parent; it is refused, also in the middle of a batch, and the
    /// batch of the parent is signed.
    @Test func aForkedChildIsRefused() throws {
        try world().expect(["fork": "0 0 20", "try": "ok"], "fork")
    }
}
