// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import Tenon
import Testing

@testable import TenonAuthority

/// Looks at stores that fail, hang and come back.
@Suite(.timeLimit(.minutes(1))) struct StoreWatchTests {
    private func wait(_ condition: () -> Bool) async {
        while !condition() { await Task.yield() }
    }

    private func with(
        _ watched: [StoreWatch.Watched], _ body: (StoreWatch, Lines) async throws -> Void
    ) async throws {
        let (folder, lines) = (try TestFolder(), Lines())
        let store = try SQLiteStore(in: AuthorityFolder(folder.path))
        let watch = StoreWatch(watched, devices: store, clock: store.clock, redis: nil, told: lines.add)
        let looks = watch.start(every: .milliseconds(2))
        try await body(watch, lines)
        looks.cancel()
        await store.close()
    }

    /// A fault is reported in the store's words, again when it changes, and when it ends.
    @Test func aFaultAndItsEnd() async throws {
        let fault = Mutex<String?>(nil)
        let store = StoreWatch.Watched(name: "redis") { () async throws(TenonError) in
            if let words = fault.withLock({ $0 }) { throw TenonError(.storeFailed, message: words) }
            return nil
        }
        try await with([store]) { watch, lines in
            #expect(watch.health.isHealthy)
            for words in ["no room", "nobody is there"] {
                fault.withLock { $0 = words }
                await wait { watch.health.fault?.message == words && lines.all.last?.contains(words) == true }
            }
            fault.withLock { $0 = nil }
            await wait { watch.health.isHealthy && lines.all.count == 3 }
            #expect(lines.all[0] == "The part redis has a fault: no room")
            #expect(lines.all[1] == "The part redis has a fault: nobody is there")
            #expect(lines.all[2].hasPrefix("The part redis works again, after "))
            #expect(watch.health.parts[0].faults == 1)
        }
    }

    /// A store that hangs is a fault, and does not hide the state of the other.
    @Test func oneThatHangs() async throws {
        let isStuck = Atomic(true)
        let looks = Atomic(0)
        let stuck = StoreWatch.Watched(name: "postgres", limit: .milliseconds(20)) { () async throws(TenonError) in
            while isStuck.load(ordering: .relaxed) { await Task.yield() }
            return nil
        }
        let other = StoreWatch.Watched(name: "redis") { () async throws(TenonError) in
            looks.add(1, ordering: .relaxed)
            return nil
        }
        try await with([stuck, other]) { watch, lines in
            await wait { watch.health.fault?.message.contains("not answered") == true }
            let seen = looks.load(ordering: .relaxed)
            await wait { looks.load(ordering: .relaxed) > seen + 3 && !lines.all.isEmpty }
            isStuck.store(false, ordering: .relaxed)
            await wait { watch.health.isHealthy && lines.all.count == 2 }
        }
    }

    /// A tidying that failed is tried again at the next look, and not a minute later.
    @Test func tidyingIsTriedAgain() async throws {
        let folder = try TestFolder()
        let store = try SQLiteStore(in: AuthorityFolder(folder.path))
        let watch = StoreWatch([], devices: store, clock: store.clock, redis: nil) { _ in }
        func rename(_ table: String, _ name: String) async throws {
            try await store.write { connection throws(TenonError) in
                _ = try connection.run("ALTER TABLE \(table) RENAME TO \(name)")
            }
        }
        try await rename("certificates", "others")
        for _ in 0..<2 { #expect(await errorThrown { try await watch.tidy() }?.code == .storeFailed) }
        try await rename("others", "certificates")
        try await watch.tidy()
        await store.close()
    }

    /// A fault that may be brief is reported only if it lasts.
    @Test func patience() async throws {
        let patient = StoreWatch.Watched(name: "requests", patience: .seconds(3_600)) { () async throws(TenonError) in
            throw TenonError(.storeFailed, message: "for a moment")
        }
        let looks = Atomic(0)
        let other = StoreWatch.Watched(name: "redis") { () async throws(TenonError) in
            looks.add(1, ordering: .relaxed)
            return nil
        }
        try await with([patient, other]) { watch, lines in
            await wait { looks.load(ordering: .relaxed) > 3 }
            #expect(watch.health.isHealthy && lines.all.isEmpty)
        }
    }

    /// Its duration counts from its start, and not from the last look.
    @Test func patienceEnds() async throws {
        let patient = StoreWatch.Watched(name: "requests", patience: .milliseconds(300)) {
            () async throws(TenonError) in
            throw TenonError(.storeFailed, message: "for long")
        }
        try await with([patient]) { watch, lines in
            await wait { watch.health.fault?.message == "for long" && !lines.all.isEmpty }
        }
    }

    /// The time difference of a store is no longer reported when it cannot be asked.
    @Test func aStoreThatIsGoneHasNoClock() async throws {
        let isGone = Atomic(false)
        let store = StoreWatch.Watched(name: "redis") { () async throws(TenonError) in
            if isGone.load(ordering: .relaxed) { throw TenonError(.storeFailed, message: "gone") }
            return SystemClock().now().wall - 3_600_000
        }
        try await with([store]) { watch, _ in
            await wait { watch.health.redisClockDifference ?? 0 > 3_000_000 }
            isGone.store(true, ordering: .relaxed)
            await wait { watch.health.parts[0].fault != nil }
            #expect(watch.health.redisClockDifference == nil)
        }
    }

    /// A full disk is reported in the system's words; here, a limit of file sizes simulates it.
    @Test func aFolderWithoutRoom() async throws {
        let folder = try TestFolder()
        let state = try AuthorityFolder(folder.path)
        let (look, store) = (try FolderLook(in: state), try SQLiteStore(in: state, clock: FakeClock()))
        for part in [look, store] as [any WatchedStore] { #expect(try await part.look() == nil) }
        #expect(!folder.names.contains("look"))
        var before = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &before)
        signal(SIGXFSZ, SIG_IGN)
        var small = rlimit(rlim_cur: 4_096, rlim_max: before.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &small)
        let error = await errorThrown { try await look.look() }
        // Existing data can still be read.
        let written = await errorThrown { try await store.look() }
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &before)
        #expect(error?.code == .storeFull && error?.message.contains("File too large") == true)
        #expect(written?.code == .storeFailed)
        for part in [look, store] as [any WatchedStore] { #expect(try await part.look() == nil) }
        await store.close()
    }
}
