// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

@testable import TenonAuthority

/// Tests only for Redis and PostgreSQL: several instances, and servers that stop and forget. Without the servers,
/// ``StoreKind`` has no such kind.
@Suite(.serialized) struct SharedStoreTests {
    static let kinds = StoreKind.allCases.filter { $0 == .shared }
    static let fragile = "/fragile"

    @Test(arguments: kinds)
    func twoInstancesAreOneAuthority(_: StoreKind) async throws {
        let name = SharedServers.name()
        let instances = [try SharedInstance(name, in: ""), try SharedInstance(name)]
        let stores = instances.map(\.stores)
        for round in 0..<4 {
            try await stores[0].put(ChallengeStoreTests.entry(stores[0]), "\(round)")
            let taken = try await atOnce(64) { try await stores[$0 % 2].take("\(round)") }
            #expect(taken.count { $0 != nil } == 1)
            let fresh = try await atOnce(64) { index in
                let use = try ReplayStoreTests.use(stores[0], nonce: round, r: round * 100 + index)
                return try await stores[index % 2].remember(use)
            }
            #expect(fresh.count { $0 == .fresh } == 1)
            let sample = try Sample()
            let devices = try await atOnce(64) { index in
                try await stores[index % 2].register(sample.registration(id: "\(round).\(index)"))
            }
            #expect(devices.count { if case .registered = $0 { true } else { false } } == 1)
            let found = try await stores[1].devices.devices(app: nil, from: nil, limit: 100).devices
            let device = try #require(found.first { $0.publicKey == sample.key })
            let rotations = try await atOnce(64) { try await stores[$0 % 2].rotate(Sample().rotation(of: device)) }
            #expect(rotations.count { $0 == .refused(.superseded) } == 63)
        }
        let request = try Sample.digest("request")
        try await stores[0].answers.keep([1], backend: "b", requestID: "1", request: request)
        #expect(try await stores[1].answers.answer(backend: "b", requestID: "1", request: request) == .answer([1]))
        for instance in instances { await instance.close() }
    }

    @Test(arguments: kinds)
    func theLimitHoldsOverInstances(_: StoreKind) async throws {
        let name = SharedServers.name()
        let instances = try (0..<2).map { _ in try SharedInstance(name, maxChallenges: 10) }
        let errors = try await atOnce(64) { index in
            let stores = instances[index % 2].stores
            return await errorThrown { try await stores.put(ChallengeStoreTests.entry(stores), "\(index)") }?.code
        }
        #expect(errors.count { $0 == nil } == 10)
        for instance in instances { await instance.close() }
    }

    /// Acknowledged changes are on the disk, whatever the role's settings are; and a commit that PostgreSQL turned into
    /// a rollback fails.
    @Test(arguments: kinds)
    func aCommitIsOne(_: StoreKind) async throws {
        let name = SharedServers.name()
        try SharedServers.owner(ofRole: name, "ALTER ROLE \(name) SET synchronous_commit=off").close()
        let store = try SharedServers.postgres(name, user: name, connections: 1)
        let setting = try await store.read { connection throws(TenonError) in
            try connection.run("SELECT current_setting('synchronous_commit')").first?.text(0)
        }
        #expect(setting == "on")
        let error = await errorThrown {
            try await store.write { connection throws(TenonError) in
                try connection.run("INSERT INTO settled VALUES ('one', ?)", .blob([1]))
                _ = try? connection.run("INSERT INTO settled VALUES ('two', NULL)")
            }
        }
        #expect(error?.code == .storeFailed)
        #expect(try await store.settle("one", as: Sample.digest("one")))
        await store.close()
    }

    /// If several instances start at once on an empty database, one makes the tables.
    @Test(arguments: kinds)
    func manyFirstStarts(_: StoreKind) async throws {
        let name = SharedServers.name()
        let errors = try await atOnce(8) { _ in
            await errorThrown { await (try SharedServers.postgres(name, connections: 1)).close() }
        }
        #expect(errors.allSatisfy { $0 == nil })
    }

    @Test(arguments: kinds)
    func whatIsSettledIsSettled(_: StoreKind) async throws {
        let name = SharedServers.name()
        let stores = [try SharedServers.postgres(name), try SharedServers.postgres(name)]
        let (one, two) = (try Sample.digest("one"), try Sample.digest("two"))
        #expect(try await stores[0].settle("ca", as: one))
        #expect(try await stores[1].settle("ca", as: one))
        #expect(try await !stores[1].settle("ca", as: two))
        #expect(try await stores[1].settle("another", as: two))
        for store in stores { await store.close() }
        #expect(await errorThrown { try await stores[0].settle("ca", as: one) }?.code == .storeClosed)
    }

    @Test(arguments: kinds)
    func aLaterVersionIsRefused(_: StoreKind) async throws {
        let name = SharedServers.name()
        await (try SharedServers.postgres(name, in: Self.fragile)).close()
        try SharedServers.command("postgres sql 'UPDATE \(name).schema_version SET version = 99'")
        let error = await errorThrown { try SharedServers.postgres(name, in: Self.fragile) }
        #expect(error?.code == .storeVersion)
    }
}

/// Addresses that are refused before anything is sent to them.
@Suite struct SharedAddressTests {
    @Test(arguments: [
        "", "postgres://", "postgres:///tenon", "postgres://db.example/tenon",
        "postgres://db.example/tenon?sslmode=require",
        "host=127.0.0.1,db.example", "host=10.0.0.1 sslmode=verify-ca", "host=localhost hostaddr=10.0.0.1", "nonsense",
        "mysql://127.0.0.1", "host=127.0.0.1 unknown=1", "postgres://tenon:secret@127.0.0.1/tenon",
    ])
    func ofPostgreSQL(_ address: String) async {
        #expect(await errorThrown { try PostgresStore(options: .init(address: address)) }?.code == .configuration)
    }

    @Test(arguments: ["", "A", "1a", "a b", "a;b", "a\"", "é", String(repeating: "a", count: 64)])
    func schemas(_ schema: String) async {
        let options = PostgresStore.Options(address: "host=/nowhere", schema: schema)
        #expect(await errorThrown { try PostgresStore(options: options) }?.code == .configuration)
    }

    /// No server is there, but the addresses are allowed.
    @Test(arguments: ["host=/nowhere", "postgres://127.0.0.1:1/tenon", "postgres://[::1]:1/tenon"])
    func ofThisMachine(_ address: String) async {
        #expect(await errorThrown { try PostgresStore(options: .init(address: address)) }?.code == .storeFailed)
    }

    @Test(arguments: [
        ("redis://127.0.0.1:6379", RedisStore.Address?.some(.tcp(address: "127.0.0.1", port: 6379))),
        ("redis://[::1]:1", .tcp(address: "::1", port: 1)), ("unix:/run/redis.sock", .unix(path: "/run/redis.sock")),
        ("redis://::1:1", nil), ("redis://127.0.0.1", nil), ("redis://127.0.0.1:0", nil), ("redis://127.0.0.1:01", nil),
        ("redis://127.0.0.1:65536", nil), ("redis://10.0.0.1:1", nil), ("redis://localhost:1", nil),
        ("redis://user:secret@127.0.0.1:1", nil), ("redis://127.0.0.1:1/0", nil), ("rediss://127.0.0.1:1", nil),
        ("unix:run", nil), ("unix:/a\0", nil), ("", nil),
    ])
    func urlsOfRedis(_ url: String, _ address: RedisStore.Address?) {
        #expect(RedisStore.Address(url: url) == address)
    }

    @Test func ofRedis() async {
        for host in ["10.0.0.1", "redis.example", "localhost", "::", "", "127.0.0.1\0"] {
            let options = RedisStore.Options(address: .tcp(address: host, port: 6379))
            let error = await errorThrown { try RedisStore(options: options, horizon: SlowHorizon()) }
            #expect(error?.code == .configuration)
        }
        for address in [RedisStore.Address.tcp(address: "127.0.0.1", port: 1), .unix(path: "/nowhere")] {
            let error = await errorThrown { try RedisStore(options: .init(address: address), horizon: SlowHorizon()) }
            #expect(error?.code == .storeFailed)
        }
    }
}
