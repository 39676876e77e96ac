// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Tenon
import Testing

@testable import TenonAuthority

/// Cached devices match the store.
@Suite struct DeviceCacheTests {
    private var stores: TestStores { .current }

    /// Reads each device before and after each kind of change.
    @Test(.stores) func whatChangedIsSeenAtOnce() async throws {
        let (sample, next, other) = (try Sample(), try Sample(), try Sample())
        let (device, bystander) = (try await stores.registered(sample), try await stores.registered(other))
        func held() async throws -> Device? { try await stores.devices.device(app: "demo", id: device.id) }
        #expect(try await held() == device)
        #expect(try await stores.devices.device(app: "other", id: device.id) == nil)
        let rotated = try RotationTests.rotated(await stores.rotate(next.rotation(of: device)))
        #expect(try await held() == rotated)
        _ = try await stores.revoke(.device(app: "demo", id: device.id, compromised: false))
        #expect(try await held()?.state == .revoked)
        #expect(try await stores.devices.device(app: "demo", id: bystander.id) == bystander)
    }

    /// A caller that has its answer finds nothing old in memory, however soon it looks.
    @Test func theCacheForgetsBeforeTheCallerIsTold() throws {
        let folder = try TestFolder()
        try folder.write([], to: SQLiteStore.fileName)
        let connection = try SQLiteConnection("\(folder.path)/\(SQLiteStore.fileName)", .writer)
        try connection.runScript("CREATE TABLE devices (id TEXT); INSERT INTO devices VALUES ('a')")
        let (cache, device) = (DeviceCache(capacity: 2), try Sample().device())
        cache.keep(device, at: 1, since: 0)
        #expect(cache.find(device.id).device == device)
        let found = Mutex<[Device?]>([])
        let job = SQLiteJob { connection in
            #expect(throws: Never.self) { try connection.run("UPDATE devices SET id = 'b'", []) }
            return { _ in found.withLock { $0.append(cache.find(device.id).device) } }
        } fail: { _ in
            Issue.record("the job did not run")
        }
        SQLiteWriter.commit([job], connection, cache) { _ in }
        #expect(found.withLock { $0 } == [nil])
    }

    /// A device that was read before a change is not cached after it.
    @Test func whatIsOldAlreadyIsNotKept() throws {
        let (cache, device) = (DeviceCache(capacity: 2), try Sample().device())
        func found() -> (device: Device?, changes: Int) { cache.find(device.id) }
        let before = found().changes
        cache.forget([7])
        cache.keep(device, at: 1, since: before)
        #expect(found().device == nil)
        cache.keep(device, at: 1, since: found().changes)
        #expect(found().device == device)
        cache.forget([2])
        #expect(found().device == device)
        cache.forget([1])
        #expect(found().device == nil)
    }

    @Test func itHasNoMoreThanItMay() throws {
        let cache = DeviceCache(capacity: 2)
        let devices = try (0..<5).map { _ in try Sample().device() }
        for (place, device) in devices.enumerated() {
            cache.keep(device, at: Int64(place), since: 0)
            #expect(cache.find(device.id).device == device)
        }
        #expect(devices.filter { cache.find($0.id).device != nil }.count <= 2)
    }
}
