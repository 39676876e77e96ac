// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import Testing

@testable import TenonAuthority

/// The file of the SQLite store: its content after a stop, and the files that are refused.
@Suite struct SQLiteFileTests {
    static let fileName = "authority.db"

    /// Runs a test on the store of a folder, and closes it.
    static func withStore(
        _ folder: TestFolder, clock: FakeClock = FakeClock(), _ body: (SQLiteStore) async throws -> Void
    ) async throws {
        let store = try SQLiteStore(in: AuthorityFolder(folder.path), clock: clock)
        try await body(store)
        await store.close()
    }

    @Test func everythingIsThereAfterAStop() async throws {
        let (folder, clock) = (try TestFolder(), FakeClock())
        let (old, new) = (try Sample(), try Sample())
        let certificate = try RegistrationTests.certificate(1, ek: "ek")
        let key = try Sample.digest("challenge")
        let entry = ChallengeEntry(
            purpose: .registration, app: "demo", origin: "https://a.example", dialect: "tenon",
            deadline: clock.now().advanced(byMilliseconds: 90_000))
        let registration = try old.registration(ek: "ek", challenge: "spent", certificate: .issued(certificate))
        try await Self.withStore(folder, clock: clock) { store in
            _ = try await store.register(registration, at: clock.now())
            var device = registration.device
            device.publicKey = old.key
            _ = try await store.rotate(new.rotation(of: device), at: clock.now())
            _ = try await store.revoke(.ek(Sample.digest("denied")), reason: "", at: clock.now())
            try await store.put(entry, under: key)
        }
        #expect(folder.names == ["authority.db", "authority.lock"])
        try await Self.withStore(folder, clock: clock) { store in
            let device = try #require(try await store.device(app: "demo", id: registration.device.id))
            #expect(device.publicKey == new.key && device.keyRotatedAt == clock.now().seconds)
            #expect(try await store.retiredKeys(ofDevice: device.id, limit: 9).map(\.publicKey) == [old.key])
            #expect(try await store.certificate(serial: certificate.serial)?.device == device.id)
            #expect(try await store.isDenied(ek: Sample.digest("denied")))
            let again = try Sample().registration(challenge: "spent")
            #expect(try await store.register(again, at: clock.now()) == .refused(.challengeSpent))
            #expect(try await store.take(.registration, under: key) == entry)
            #expect(try await store.take(.registration, under: key) == nil)
        }
    }

    /// The places of a list continue after the earlier ones.
    @Test func theOrderOfDevicesStays() async throws {
        let folder = try TestFolder()
        var ids: [String] = []
        for _ in 0..<3 {
            let registration = try Sample().registration()
            ids.append(registration.device.id)
            try await Self.withStore(folder) { _ = try await $0.register(registration, at: FakeClock().now()) }
        }
        try await Self.withStore(folder) { store in
            let page = try await store.devices(app: nil, from: nil, limit: 10)
            #expect(page.devices.map(\.id) == ids)
        }
    }

    @Test func timeGoesOnWhereItStopped() async throws {
        let (folder, clock) = (try TestFolder(), FakeClock())
        // Each process counts, not only the first.
        try await Self.withStore(folder, clock: clock) { _ in }
        clock.advance(3_600_000)
        let seen = clock.now().wall
        try await Self.withStore(folder, clock: clock) { _ in }
        clock.step(-7_200_000)
        try await Self.withStore(folder, clock: clock) { store in
            // The stamp has a resolution of one second.
            #expect(seen - 1_000...seen ~= store.clock.now().wall)
            #expect(store.clock.stepBack > 7_190_000)
        }
        clock.step(7_200_000)
        try await Self.withStore(folder, clock: clock) { #expect($0.clock.now().wall == seen) }
    }

    @Test func afterCloseNothingIsDone() async throws {
        let folder = try TestFolder()
        let store = try SQLiteStore(in: AuthorityFolder(folder.path))
        await store.close()
        await store.close()
        #expect(await errorThrown { try await store.device(app: "demo", id: "1") }?.code == .storeClosed)
        let now = FakeClock().now()
        #expect(await errorThrown { try await store.register(Sample().registration(), at: now) }?.code == .storeClosed)
    }

    /// `close` waits for earlier calls: each is either stored or throws.
    @Test func callsThatAreUnderWayEndBeforeClose() async throws {
        let folder = try TestFolder()
        let store = try SQLiteStore(in: AuthorityFolder(folder.path))
        let stored = try await atOnce(64) { index -> String? in
            if index == 32 { await store.close() }
            let registration = try Sample().registration()
            let error = await errorThrown { try await store.register(registration, at: FakeClock().now()) }
            #expect(error == nil || error?.code == .storeClosed)
            return error == nil ? registration.device.id : nil
        }
        try await Self.withStore(folder) { store in
            let there = try await store.devices(app: nil, from: nil, limit: 100).devices.map(\.id)
            #expect(Set(there) == Set(stored.compactMap { $0 }))
        }
    }

    // MARK: Files that are refused

    /// A closed store whose file is changed.
    static func changed(_ change: (inout [UInt8]) -> Void) async throws -> TenonError? {
        let folder = try TestFolder()
        try await withStore(folder) { store in
            for _ in 0..<50 { _ = try await store.register(Sample().registration(ek: "ek"), at: FakeClock().now()) }
        }
        var bytes = try folder.read(fileName)
        change(&bytes)
        try folder.write(bytes, to: fileName)
        let error = await errorThrown { try AuthorityFolderTests.open(folder.path) }
        #expect(try folder.read(fileName) == bytes)
        return error
    }

    /// The offsets of PRAGMA user_version and application_id in the file format, and of the pages of the tables.
    enum Offset {
        static let userVersion = 60
        static let applicationID = 68
        static let tables = 4_096
    }

    @Test func aLaterVersionIsRefused() async throws {
        let error = try await Self.changed { $0[Offset.userVersion + 3] += 1 }
        #expect(error?.code == .storeVersion)
        #expect(error?.message.contains("The store has version") == true)
    }

    @Test func whatIsNoStoreIsRefused() async throws {
        func fill(_ bytes: inout [UInt8], _ range: Range<Int>, _ value: UInt8) {
            bytes.replaceSubrange(range, with: repeatElement(value, count: range.count))
        }
        let text = "this is no database, and longer than a header is\n"
        for (what, change) in [
            ("version 0", { $0[Offset.userVersion + 3] = 0 }), ("a huge version", { $0[Offset.userVersion] = 0xff }),
            ("another program's", { $0[Offset.applicationID] ^= 1 }),
            ("nobody's", { fill(&$0, Offset.applicationID..<Offset.applicationID + 4, 0) }),
            ("a changed head", { $0[0] ^= 1 }), ("a cut file", { $0.removeLast(Offset.tables) }),
            ("torn tables", { fill(&$0, Offset.tables..<$0.count, 0xff) }),
            ("a page that a start does not need", { fill(&$0, $0.count - Offset.tables..<$0.count, 0xff) }),
            ("a text", { $0 = Array(text.utf8) }),
        ] as [(String, (inout [UInt8]) -> Void)] {
            #expect(try await Self.changed(change)?.code == .storeCorrupt, "\(what)")
        }
    }
}
