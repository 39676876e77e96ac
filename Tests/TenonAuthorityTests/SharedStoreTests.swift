// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import Testing

/// What there is only with Redis and PostgreSQL: other instances, and servers that go and forget. Where the servers are
/// not, ``StoreKind`` has no such kind.
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

    /// Of instances that start at once on an empty database one makes the tables.
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
        try SharedServers.command("postgres sql 'UPDATE \(name).schema_version SET version = 3'")
        let error = await errorThrown { try SharedServers.postgres(name, in: Self.fragile) }
        #expect(error?.code == .storeVersion)
    }

    // MARK: Servers that go

    /// PostgreSQL is killed while many write, and comes back: nothing that was acknowledged is missing, and nobody has
    /// to start the authority again.
    @Test(arguments: kinds)
    func postgresIsKilledUnderLoad(_: StoreKind) async throws {
        let instance = try SharedInstance(in: Self.fragile)
        let stores = instance.stores
        let acknowledged = try await atOnce(9) { worker -> [Device] in
            if worker == 8 {
                try SharedServers.command("postgres kill")
                try SharedServers.command("postgres start")
                return []
            }
            var devices: [Device] = []
            var isBack = false
            var hasFailed = false
            while !isBack {
                let registration = try Sample().registration()
                let error = await errorThrown { try await stores.register(registration) }
                if error == nil { devices.append(registration.device) }
                if error != nil { #expect(error?.code == .storeFailed) }
                isBack = hasFailed && error == nil
                hasFailed = hasFailed || error != nil
            }
            return devices
        }.flatMap { $0 }
        #expect(!acknowledged.isEmpty)
        for device in acknowledged { #expect(try await stores.devices.device(app: "demo", id: device.id) == device) }
        await instance.close()
    }

    /// A server that was started again with nobody noticing costs no request.
    @Test(arguments: kinds)
    func aRestartBetweenRequestsIsNotNoticed(_: StoreKind) async throws {
        let instance = try SharedInstance(in: Self.fragile)
        let device = try await instance.stores.registered(Sample())
        for words in ["postgres stop", "postgres start", "redis stop", "redis start"] {
            try SharedServers.command(words)
        }
        for _ in 0..<6 {
            #expect(try await instance.stores.devices.device(app: "demo", id: device.id) == device)
            _ = try await instance.stores.registered(Sample())
        }
        try await instance.stores.put(ChallengeStoreTests.entry(instance.stores), "one")
        #expect(try await instance.stores.take("one") != nil)
        await instance.close()
    }

    @Test(arguments: kinds)
    func withoutServersNothingIsAccepted(_: StoreKind) async throws {
        let instance = try SharedInstance(in: Self.fragile)
        let stores = instance.stores
        for words in ["postgres stop", "redis stop"] { try SharedServers.command(words) }
        let errors = await [
            errorThrown { try await stores.registered(Sample()) },
            errorThrown { try await stores.devices.device(app: "demo", id: "1") },
            errorThrown { try await stores.put(ChallengeStoreTests.entry(stores), "one") },
            errorThrown { try await stores.take("one") },
            errorThrown { try await stores.remember(ReplayStoreTests.use(stores, nonce: 1)) },
        ]
        #expect(errors.map { $0?.code } == Array(repeating: .storeFailed, count: 5))
        #expect(errors.allSatisfy { $0?.retryAfter != nil })
        for words in ["postgres start", "redis start"] { try SharedServers.command(words) }
        stores.clock.advance(3_000)
        _ = try await stores.registered(Sample())
        await instance.close()
    }

    /// security.md E4: what came before the loss is refused, also of a device whose clock is ahead.
    @Test(arguments: kinds)
    func aRedisThatForgotIsNotBelieved(_: StoreKind) async throws {
        let name = SharedServers.name()
        let instances = try (0..<2).map { _ in try SharedInstance(name, in: Self.fragile) }
        let stores = instances[0].stores
        let clocks = instances.map(\.stores.clock)
        var uses: [SignedUse] = []
        for (index, ahead) in [Int64(0), 1, 2, 3, 100, 300].enumerated() {
            let use = try ReplayStoreTests.use(stores, device: "\(index)", nonce: index, ahead: ahead)
            #expect(try await stores.remember(use) == .fresh)
            uses.append(use)
        }
        try SharedServers.command("redis stop")
        try SharedServers.command("redis start")
        for instance in instances.reversed() {
            for use in uses { #expect(try await instance.stores.remember(use) == .mayBeForgotten, "\(use.deviceID)") }
        }
        #expect(instances[0].redis.losses == 1)
        for clock in clocks { clock.advance(4_000) }
        for (device, expected) in [("0", SignedUse.Outcome.fresh), ("5", .mayBeForgotten), ("new", .fresh)] {
            let use = try ReplayStoreTests.use(stores, device: device, nonce: 99, key: device)
            #expect(try await instances[1].stores.remember(use) == expected)
        }
        for clock in clocks { clock.advance(301_000) }
        let later = try ReplayStoreTests.use(stores, device: "5", nonce: 100)
        #expect(try await stores.remember(later) == .fresh)
        for instance in instances { await instance.close() }
    }

    /// A server that throws entries away readmits replays.
    @Test(arguments: kinds)
    func aRedisThatEvictsIsRefused(_: StoreKind) async throws {
        let instance = try SharedInstance(in: Self.fragile)
        let stores = instance.stores
        let use = try ReplayStoreTests.use(stores, nonce: 1)
        #expect(try await stores.remember(use) == .fresh)
        try SharedServers.command("redis set maxmemory-policy allkeys-lru")
        #expect(await errorThrown { try await instance.redis.look() }?.code == .storeFailed)
        #expect(await errorThrown { try await stores.remember(use) }?.code == .storeFailed)
        #expect(await errorThrown { try SharedInstance(in: Self.fragile) }?.code == .configuration)
        try SharedServers.command("redis set maxmemory-policy noeviction")
        #expect(await errorThrown { try await stores.remember(use) }?.code == .storeFailed)
        _ = try await instance.redis.look()
        // It may have thrown away what came before.
        #expect(try await stores.remember(use) == .mayBeForgotten)
        #expect(instance.redis.losses == 1)
        stores.clock.advance(3_000)
        #expect(try await stores.remember(ReplayStoreTests.use(stores, nonce: 2)) == .fresh)
        await instance.close()
    }

    @Test(arguments: kinds)
    func aRedisWithAPassword(_: StoreKind) async throws {
        try SharedServers.command("redis set requirepass open-sesame")
        let postgres = try SharedServers.postgres(SharedServers.name())
        let servers = try #require(SharedServers.folder) + Self.fragile
        var options = RedisStore.Options(address: .unix(path: "\(servers)/redis.sock"))
        for (user, password, code) in [
            (nil, nil, .storePermission), (nil, "open", .storePermission), ("nobody", "open-sesame", .storePermission),
            (nil, "open-sesame", nil), ("default", "open-sesame", nil),
        ] as [(String?, String?, TenonError.Code?)] {
            (options.user, options.password) = (user, password)
            let error = await errorThrown {
                let redis = try RedisStore(options: options, horizon: postgres)
                _ = try await redis.look()
                await redis.close()
            }
            #expect(error?.code == code)
        }
        for words in ["redis kill", "redis start"] { try SharedServers.command(words) }
        await postgres.close()
    }

    @Test(arguments: kinds)
    func aFullRedisIsBusy(_: StoreKind) async throws {
        let instance = try SharedInstance(in: Self.fragile)
        let stores = instance.stores
        try await stores.put(ChallengeStoreTests.entry(stores), "one")
        try SharedServers.command("redis set maxmemory 1")
        let errors = await [
            errorThrown { try await stores.put(ChallengeStoreTests.entry(stores), "two") },
            errorThrown { try await stores.remember(ReplayStoreTests.use(stores, nonce: 1)) },
        ]
        #expect(errors.map { $0?.code } == [.storeFull, .storeFull])
        // An answer that is not kept is none that is lost.
        try await stores.answers.keep([1], backend: "b", requestID: "1", request: Sample.digest("request"))
        try SharedServers.command("redis set maxmemory 0")
        #expect(try await stores.take("one") != nil)
        #expect(try await stores.remember(ReplayStoreTests.use(stores, nonce: 1)) == .fresh)
        await instance.close()
    }
}

/// Addresses that are refused before anything is sent there.
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

    /// Nobody is there, but they may be asked.
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

    private struct NoHorizon: ReplayHorizon {
        func raise(device: String?, to timestamp: Int64, epoch: String) async throws(TenonError) {}
        func horizons(after seconds: Int64, besides epoch: String?) async throws(TenonError) -> ReplayHorizons? { nil }
    }

    @Test func ofRedis() async {
        for host in ["10.0.0.1", "redis.example", "localhost", "::", "", "127.0.0.1\0"] {
            let options = RedisStore.Options(address: .tcp(address: host, port: 6379))
            let error = await errorThrown { try RedisStore(options: options, horizon: NoHorizon()) }
            #expect(error?.code == .configuration)
        }
        for address in [RedisStore.Address.tcp(address: "127.0.0.1", port: 1), .unix(path: "/nowhere")] {
            let error = await errorThrown { try RedisStore(options: .init(address: address), horizon: NoHorizon()) }
            #expect(error?.code == .storeFailed)
        }
    }
}
