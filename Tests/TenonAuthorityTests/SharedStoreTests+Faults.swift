// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Tenon
import TenonAuthority
import Testing

// Servers that stop, forget, or have no room.
extension SharedStoreTests {
    /// PostgreSQL is killed during many writes, and comes back: no acknowledged change is missing, and the authority
    /// needs no restart.
    @Test(arguments: kinds)
    func postgresIsKilledUnderLoad(_: StoreKind) async throws {
        let instance = try SharedInstance(in: Self.fragile)
        let stores = instance.stores
        let acknowledged = try await atOnce(9) { worker -> [Device] in
            if worker == 8 {
                try SharedServers.command("postgres kill", "postgres start")
                return []
            }
            var (devices, isBack, hasFailed) = ([Device](), false, false)
            while !isBack {
                let registration = try Sample().registration()
                let error = await errorThrown { try await stores.register(registration) }
                if error == nil { devices.append(registration.device) }
                if let error { #expect([.storeFailed, .outcomeUnknown].contains(error.code), "\(error)") }
                isBack = hasFailed && error == nil
                hasFailed = hasFailed || error != nil
            }
            return devices
        }.flatMap { $0 }
        #expect(!acknowledged.isEmpty)
        for device in acknowledged { #expect(try await stores.devices.device(app: "demo", id: device.id) == device) }
        await instance.close()
    }

    /// Redis is killed while every request is sent twice, to two instances, and challenges are redeemed: failures are
    /// reported, nothing is accepted twice, and service resumes by itself.
    @Test(arguments: kinds)
    func redisIsKilledUnderLoad(_: StoreKind) async throws {
        let (name, server) = (SharedServers.name(), FakeClock())
        let instances = try (0..<2).map { _ in try SharedInstance(name, in: Self.fragile, clock: server) }
        let stores = instances.map(\.stores)
        let isOver = Atomic(false)
        let twice = try await atOnce(9) { worker -> Int in
            if worker == 8 {
                defer { isOver.store(true, ordering: .relaxed) }
                try SharedServers.command("redis kill", "redis start", "redis kill", "redis start")
                return 0
            }
            var (number, twice, fresh) = (worker * 1_000_000, 0, 0)
            while fresh < 10 {
                number += 1
                server.advance(10)
                let use = try ReplayStoreTests.anyUse(stores[0], number, ahead: Int64(number % 5) * 60)
                let entry = ChallengeStoreTests.entry(stores[0])
                var (accepted, taken) = (0, 0)
                for store in stores + stores {
                    do {
                        if try await store.remember(use) == .fresh { accepted += 1 }
                        if taken == 0 { try await store.put(entry, "\(number)") }
                        if try await store.take("\(number)") != nil { taken += 1 }
                    } catch let error as TenonError {
                        let isTold = [.storeFailed, .storeBusy, .outcomeUnknown].contains(error.code)
                        #expect(isTold && error.retryAfter != nil, "\(error)")
                    }
                }
                if accepted > 1 { twice += 1 }
                if isOver.load(ordering: .relaxed) { fresh += accepted }
            }
            return twice
        }
        #expect(twice.allSatisfy { $0 == 0 })
        for instance in instances { await instance.close() }
    }

    /// While a server is away, a device gets 503 with a time to retry; then service resumes by itself.
    @Test(arguments: kinds)
    func theServiceSaysThatItCannotAnswer(_: StoreKind) async throws {
        let instance = try SharedInstance(in: Self.fragile)
        instance.stores.clock.advance(600_000)
        let rig = try ServiceRig.rig(on: instance.stores)
        let device = try await rig.device()
        func ask() async throws -> [AuthorityAnswer] {
            let key = try SoftwareKey().publicKey
            let request = try device.request("POST", "/v1/echo", at: rig.seconds)
            let rotation = try device.rotation(to: device.key.publicKey, at: rig.seconds)
            return [
                try await rig.post("/v1/device/challenge", ["app_id": "open"]),
                try await rig.register(key, challenge: "none"), await rig.ask(request), await rig.ask(rotation),
                try await rig.post("/v1/revoke", ["serial": "00112233445566778899aabbccddeeff"], at: .admin),
            ]
        }
        func refused() async throws -> [Bool] {
            try await ask().map { $0.verdict == "503 UNAVAILABLE" && $0.header("Retry-After") != nil }
        }
        #expect(try await refused() == [false, false, false, false, false])
        try SharedServers.command("redis stop")
        #expect(try await refused() == [true, true, true, true, false])
        try SharedServers.command("postgres stop")
        #expect(try await refused() == [true, true, true, true, true])
        try SharedServers.command("redis start")
        #expect(try await refused() == [false, false, true, true, true])
        try SharedServers.command("postgres start")
        // An entry that Redis forgot is not mistaken for one that never existed.
        _ = try await ask()
        instance.stores.clock.advance(3_000)
        #expect(try await refused() == [false, false, false, false, false])
        #expect(try await ask()[2].verdict == "200")
        await instance.close()
    }

    /// A server that was restarted unnoticed costs no request.
    @Test(arguments: kinds)
    func aRestartBetweenRequestsIsNotNoticed(_: StoreKind) async throws {
        let instance = try SharedInstance(in: Self.fragile)
        let device = try await instance.stores.registered(Sample())
        try SharedServers.command("postgres stop", "postgres start", "redis stop", "redis start")
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
        try SharedServers.command("postgres stop", "redis stop")
        let errors = await [
            errorThrown { try await stores.registered(Sample()) },
            errorThrown { try await stores.devices.device(app: "demo", id: "1") },
            errorThrown { try await stores.put(ChallengeStoreTests.entry(stores), "one") },
            errorThrown { try await stores.take("one") },
            errorThrown { try await stores.remember(ReplayStoreTests.use(stores, nonce: 1)) },
        ]
        #expect(errors.map { $0?.code } == Array(repeating: .storeFailed, count: 5))
        #expect(errors.allSatisfy { $0?.retryAfter != nil })
        try SharedServers.command("postgres start", "redis start")
        stores.clock.advance(3_000)
        _ = try await stores.registered(Sample())
        await instance.close()
    }

    /// Decision: forgetful-stores. Requests from before the loss are refused, even from a device whose clock is ahead.
    @Test(arguments: kinds)
    func aRedisThatForgotIsNotBelieved(_: StoreKind) async throws {
        let name = SharedServers.name()
        let instances = try (0..<2).map { _ in try SharedInstance(name, in: Self.fragile) }
        let stores = instances[0].stores
        let clocks = instances.map(\.stores.clock)
        let uses = try [Int64(0), 1, 2, 3, 100, 300].enumerated().map { index, ahead in
            try ReplayStoreTests.anyUse(stores, device: "\(index)", index, ahead: ahead)
        }
        for use in uses { #expect(try await stores.remember(use) == .fresh) }
        try SharedServers.command("redis stop", "redis start")
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

    /// A server that evicts entries would admit replays.
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
        // It may have evicted earlier entries.
        #expect(try await stores.remember(use) == .mayBeForgotten)
        #expect(instance.redis.losses == 1)
        stores.clock.advance(3_000)
        #expect(try await stores.remember(ReplayStoreTests.use(stores, nonce: 2)) == .fresh)
        await instance.close()
    }

    /// Even if the eviction ends before anybody has looked.
    @Test(arguments: kinds)
    func whatWasThrownAwayIsNotAcceptedAgain(_: StoreKind) async throws {
        let instance = try SharedInstance(in: Self.fragile)
        let uses = try (0..<50).map { try ReplayStoreTests.anyUse(instance.stores, $0) }
        for use in uses { #expect(try await instance.stores.remember(use) == .fresh) }
        try SharedServers.command(
            "redis set maxmemory-policy volatile-lru", "redis set maxmemory 1", "redis set maxmemory 0",
            "redis set maxmemory-policy noeviction")
        for use in uses { #expect(try await instance.stores.remember(use) == .mayBeForgotten) }
        instance.stores.clock.advance(3_000)
        #expect(try await instance.stores.remember(ReplayStoreTests.use(instance.stores, nonce: 99)) == .fresh)
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
        try SharedServers.command("redis kill", "redis start")
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
        // An answer that cannot be kept does not make the request fail.
        try await stores.answers.keep([1], backend: "b", requestID: "1", request: Sample.digest("request"))
        try SharedServers.command("redis set maxmemory 0")
        #expect(try await stores.take("one") != nil)
        #expect(try await stores.remember(ReplayStoreTests.use(stores, nonce: 1)) == .fresh)
        await instance.close()
    }
}
