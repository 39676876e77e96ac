// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

@testable import TenonAuthority

/// Stores of earlier versions.
@Suite struct MigrationTests {
    /// Released upgrade steps never change: otherwise a store of that version would be misread.
    @Test(arguments: [
        (
            SQLiteSchema.migrations,
            [
                "cf3ba0a5d97ece5cf2b7fda62fd67389a17efef8cc42a6055406e166c28820cf",
                "fca2fe97c1266ab916d5669182053dfb039c0e062dd390dcdc0e689d20d64526",
                "709cfb1c838809ed467fc72f657313a9b499985745d819afcddb43604d95d66a",
                "32a8cbc803f86c0031446901b62fdb1e8ccb378420c4a768e590d1b9fe99ee41",
                "7ff22e3b9bf15e237be538722326cf051f1ee2c8a07c2dce669bb2c171c7d59a",
            ]
        ),
        (
            PostgresSchema.migrations,
            [
                "b84e355e4978ad6993d673aafadcc1726920007fabdf00b4ea7bcfa5bd74184b",
                "495b5f63bdd409890e3948edf88acdaa65134b6925f43f46b3986d5f3ecd75b7",
                "b5310c0ed8586c3cfd171a1d509be2c71ee7b63ae613afa60ad9e4763cbe1068",
                "cb399fd8a152ff6c54bae9f069de8128e5a30b0340a241b70f74b34ba28fb596",
                "b2e4038e9ff05a891220ad6afa0c4b629291a056b22d1701b894d06963b1e18d",
                "7ff22e3b9bf15e237be538722326cf051f1ee2c8a07c2dce669bb2c171c7d59a",
            ]
        ),
    ])
    func whatIsReleasedStays(_ migrations: [String], _ digests: [String]) throws {
        #expect(try migrations.map { try Sample.digest($0).description } == digests)
    }

    /// A device, its key, and horizons, in the form of the first version.
    private static func rows(_ sample: Sample, blob: ([UInt8]) -> String) throws -> String {
        let key = blob(sample.key.rawRepresentation)
        let hash = blob(try Digest(hashing: sample.key.derRepresentation).rawRepresentation)
        return """
            INSERT INTO devices (id, app, state, level, key, thumbprint, signature_versions, registered_at)
                VALUES ('old', 'demo', 'active', 'unattested', \(key), '\(try sample.key.thumbprint)', '1', 1700000000);
            INSERT INTO keys (hash, device, generation, key) VALUES (\(hash), 'old', 0, \(key));
            INSERT INTO replay_horizons VALUES ('', 1800000300), ('old', 1800050000);
            """
    }

    private static func hex(_ bytes: [UInt8]) -> String { TextEncoding.hex.encode(bytes) }

    /// All rows are kept, and this version works with them.
    private static func check(_ store: some SQLDeviceStore, _ sample: Sample, clock: FakeClock) async throws {
        let device = try #require(try await store.device(app: "demo", id: "old"))
        #expect(device.publicKey == sample.key && device.registeredAt == 1_700_000_000)
        let old = ReplaySpan(to: 1_800_050_000)
        let horizons = try await store.horizons(besides: nil)
        #expect(horizons?.devices == ["old": [old]])
        #expect(horizons?.all.count == 1 && horizons?.all[0].contains(1_800_000_300) == true)
        let span = ReplaySpan(from: 1_800_049_000, to: 1_800_050_100)
        try await store.raise(device: "old", to: span, epoch: "a 1")
        #expect(try await store.horizons(besides: "a 1")?.devices == ["old": [old]])
        #expect(try await store.horizons(besides: nil)?.devices == ["old": [ReplaySpan(to: span.to)]])
        let folder = try TestFolder()
        let log = try AuditedStoreTests.log(folder)
        try await store.audit(in: log)
        guard case .rotated = try await store.rotate(Sample().rotation(of: device), at: clock.now()) else {
            throw Surprise("it was not rotated")
        }
        try await store.tidy(at: clock.now())
        await log.close()
        #expect(try AuditReader.events(folder, key: [1]) == ["rotated old"])
    }

    /// A file of the first version.
    private static func makeFile(_ folder: TestFolder, _ sample: Sample, more: String = "") throws {
        try folder.write([], to: SQLiteStore.fileName)
        try script(
            folder,
            SQLiteSchema.migrations[0] + "PRAGMA application_id=1416511861; PRAGMA user_version=1;"
                + "UPDATE clock SET seen=1799999999000;" + more
                + rows(sample) { "X'\(hex($0))'" })
    }

    private static func script(_ folder: TestFolder, _ text: String) throws {
        try SQLiteConnection("\(folder.path)/\(SQLiteStore.fileName)", .writer).runScript(text)
    }

    private static func version(_ folder: TestFolder) throws -> Int64? {
        let connection = try SQLiteConnection("\(folder.path)/\(SQLiteStore.fileName)", .reader)
        return try connection.run("PRAGMA user_version").first?.integer(0)
    }

    @Test func ofSQLite() async throws {
        let (folder, sample, clock) = (try TestFolder(), try Sample(), FakeClock())
        try Self.makeFile(folder, sample)
        let store = try SQLiteStore(in: AuthorityFolder(folder.path), clock: clock)
        try await Self.check(store, sample, clock: clock)
        await store.close()
        #expect(try Self.version(folder) == SQLiteSchema.version)
        // A second start has nothing to do.
        let again = try SQLiteStore(in: AuthorityFolder(folder.path), clock: clock)
        #expect(try await again.device(app: "demo", id: "old") != nil)
        await again.close()
    }

    @Test func oneThatFailsChangesNothing() async throws {
        let (folder, sample, clock) = (try TestFolder(), try Sample(), FakeClock())
        try Self.makeFile(folder, sample, more: "CREATE TABLE outbox (x INTEGER);")
        for _ in 0..<2 {
            let error = await errorThrown { try SQLiteStore(in: AuthorityFolder(folder.path), clock: clock) }
            #expect(error?.code == .storeFailed)
            #expect(try Self.version(folder) == 1)
        }
        try Self.script(folder, "DROP TABLE outbox")
        let store = try SQLiteStore(in: AuthorityFolder(folder.path), clock: clock)
        try await Self.check(store, sample, clock: clock)
        await store.close()
    }

    @Test(arguments: SharedStoreTests.kinds)
    func ofPostgreSQL(_: StoreKind) async throws {
        let (name, sample) = (SharedServers.name(), try Sample())
        let connection = try SharedServers.connection(name)
        try connection.runScript("CREATE SCHEMA \(name); CREATE TABLE schema_version (version BIGINT NOT NULL)")
        try connection.runScript(PostgresSchema.migrations[0] + "INSERT INTO schema_version VALUES (1);")
        try connection.runScript(Self.rows(sample) { "'\\x\(Self.hex($0))'" })
        for start in 0..<2 {
            let store = try SharedServers.postgres(name)
            if start == 0 { try await Self.check(store, sample, clock: FakeClock()) }
            #expect(try await store.device(app: "demo", id: "old") != nil)
            await store.close()
        }
        let version = try connection.run("SELECT version FROM schema_version")
        #expect(try version.map { try $0.integer(0) } == [PostgresSchema.version])
        connection.close()
    }
}
