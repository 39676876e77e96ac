// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import Testing

/// Whose time decides where instances share Redis: Redis's, and no instance's.
@Suite struct SharedClockTests {
    /// Instances over the same stores whose clocks are so many milliseconds ahead of Redis's.
    private static func withInstances(
        ahead: [Int64], _ body: ([TestStores], _ server: FakeClock) async throws -> Void
    ) async throws {
        let (name, server) = (SharedServers.name(), FakeClock())
        let instances = try ahead.map { ahead in
            let clock = FakeClock()
            clock.step(ahead)
            return try SharedInstance(name, clock: clock, server: server)
        }
        try await body(instances.map(\.stores), server)
        for instance in instances { await instance.close() }
    }

    private static func use(_ server: FakeClock, nonce: Int, r: Int? = nil, ahead: Int64 = 0) throws -> SignedUse {
        try ReplayStoreTests.use(
            at: server.now().seconds + ahead, nonce: ReplayStoreTests.nonce(nonce), r: r ?? nonce)
    }

    /// An instance whose clock is ahead lets go of nothing that others remember.
    @Test(arguments: SharedStoreTests.kinds)
    func oneThatIsAheadForgetsNothing(_: StoreKind) async throws {
        try await Self.withInstances(ahead: [0, 700_000]) { (stores, server) async throws in
            #expect(try await stores[0].remember(Self.use(server, nonce: 1)) == .fresh)
            #expect(try await stores[1].remember(Self.use(server, nonce: 2)) == .fresh)
            #expect(try await stores[0].remember(Self.use(server, nonce: 1, r: 3)) == .replay)
            #expect(try await stores[1].remember(Self.use(server, nonce: 1, r: 3)) == .replay)
        }
    }

    /// An instance whose clock is behind, or was set back, takes nothing that Redis has let go.
    @Test(arguments: SharedStoreTests.kinds)
    func oneThatIsBehindAcceptsNothingTwice(_: StoreKind) async throws {
        try await Self.withInstances(ahead: [0, -700_000]) { (stores, server) async throws in
            let use = try Self.use(server, nonce: 1)
            #expect(try await stores[0].remember(use) == .fresh)
            server.advance(659_999)
            #expect(try await stores[1].remember(use) != .fresh)
            server.advance(1)
            #expect(try await stores[1].remember(use) == .mayBeForgotten)
            // What is dated further ahead than a request may be would be in time still when it is let go.
            #expect(try await stores[1].remember(Self.use(server, nonce: 2, ahead: 400)) == .mayBeForgotten)
        }
    }

    /// Each entry is there for 660 s, by both of its names.
    @Test(arguments: SharedStoreTests.kinds)
    func rememberedFor660Seconds(_: StoreKind) async throws {
        try await Self.withInstances(ahead: [0]) { (stores, server) async throws in
            #expect(try await stores[0].remember(Self.use(server, nonce: 1)) == .fresh)
            server.advance(659_999)
            #expect(try await stores[0].remember(Self.use(server, nonce: 1, r: 2)) == .replay)
            #expect(try await stores[0].remember(Self.use(server, nonce: 2, r: 1)) == .replay)
            server.advance(1)
            #expect(try await stores[0].remember(Self.use(server, nonce: 1)) == .fresh)
        }
    }

    /// Redis's own clock is set back once it has let go of an entry: its time stands still then.
    @Test(arguments: SharedStoreTests.kinds)
    func aRedisThatIsSetBackAcceptsNothingTwice(_: StoreKind) async throws {
        try await Self.withInstances(ahead: [0]) { (stores, server) async throws in
            let use = try Self.use(server, nonce: 1)
            #expect(try await stores[0].remember(use) == .fresh)
            server.advance(661_000)
            #expect(try await stores[0].remember(Self.use(server, nonce: 2)) == .fresh)
            server.step(-661_000)
            #expect(try await stores[0].remember(use) == .mayBeForgotten)
        }
    }

    /// The same over a restart: what an instance saw of its time is where the next life begins.
    @Test(arguments: SharedStoreTests.kinds)
    func aRedisThatComesBackInThePastIsNotBelieved(_: StoreKind) async throws {
        let (name, server) = (SharedServers.name(), FakeClock())
        let instances = try (0..<2).map { _ in
            try SharedInstance(name, in: SharedStoreTests.fragile, clock: FakeClock(), server: server)
        }
        let use = try Self.use(server, nonce: 1)
        #expect(try await instances[0].stores.remember(use) == .fresh)
        try SharedServers.command("redis stop")
        try SharedServers.command("redis start")
        server.step(-200_000)
        // The other instance has seen nothing of the life before.
        #expect(try await instances[1].stores.remember(Self.use(server, nonce: 2)) == .mayBeForgotten)
        #expect(try await instances[0].stores.remember(use) == .mayBeForgotten)
        #expect(try await instances[1].stores.remember(use) == .mayBeForgotten)
        for instance in instances { await instance.close() }
    }

    @Test(arguments: SharedStoreTests.kinds)
    func challengesLiveByRedissTime(_: StoreKind) async throws {
        try await Self.withInstances(ahead: [0, 700_000, -700_000]) { (stores, server) async throws in
            for (index, giver) in stores.enumerated() {
                for taker in stores {
                    try await giver.put(ChallengeStoreTests.entry(giver), "\(index)")
                    server.advance(89_999)
                    #expect(try await taker.take("\(index)") != nil)
                    try await giver.put(ChallengeStoreTests.entry(giver), "\(index)")
                    server.advance(90_000)
                    #expect(try await taker.take("\(index)") == nil)
                }
            }
        }
    }

    /// Without anything that stands in for it, the time is Redis's.
    @Test(arguments: SharedStoreTests.kinds)
    func theTimeIsRediss(_: StoreKind) async throws {
        let (name, real) = (SharedServers.name(), SystemClock().now())
        let postgres = try SharedServers.postgres(name)
        let clock = FakeClock(wall: real.wall - 3_600_000, boot: real.boot)
        let redis = try SharedServers.redis(name, clock: clock, server: nil, horizon: postgres)
        let look = try await redis.look()
        #expect(look.clockDifference <= -3_600_000 && look.clockDifference > -7_200_000)
        #expect(look.stepBack < 3_600_000)
        for (ahead, expected) in [
            (Int64(-3_600), SignedUse.Outcome.mayBeForgotten), (0, .mayBeForgotten), (60, .fresh), (60, .replay),
            (3_600, .mayBeForgotten),
        ] {
            let use = try ReplayStoreTests.use(at: real.seconds + ahead, nonce: ReplayStoreTests.nonce(1), r: 1)
            #expect(try await redis.remember(use) == expected, "\(ahead)")
        }
        await redis.close()
        await postgres.close()
    }

    /// The first request after a start may come from a device that is ahead; it is a replay elsewhere, and is not
    /// refused for the horizon that it, or another instance, has just stored.
    @Test(arguments: SharedStoreTests.kinds, [Int64(3), 100, 300])
    func aDeviceThatIsAheadMayBeTheFirst(_: StoreKind, ahead: Int64) async throws {
        try await Self.withInstances(ahead: [0, 0]) { (stores, server) async throws in
            let use = try Self.use(server, nonce: 1, ahead: ahead)
            #expect(try await stores[0].remember(use) == .fresh)
            #expect(try await stores[1].remember(use) == .replay)
            #expect(try await stores[1].remember(Self.use(server, nonce: 2, ahead: ahead - 1)) == .fresh)
        }
    }
}
