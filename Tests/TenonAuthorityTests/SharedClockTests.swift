// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import Testing

/// If instances share Redis, its time decides. An instance whose clock differs from it does not take part.
@Suite(.serialized) struct SharedClockTests {
    /// Instances over the same stores, and all their clocks.
    private struct Rig {
        let name = SharedServers.name()
        let server = FakeClock()
        let place: String
        var clocks: [FakeClock] = []
        var instances: [SharedInstance] = []

        /// - Parameter ahead: the milliseconds by which the instances' clocks are ahead of Redis's.
        init(ahead: [Int64] = [0], in place: String = "") throws {
            self.place = place
            for ahead in ahead { try add(ahead: ahead) }
        }

        mutating func add(ahead: Int64 = 0) throws {
            let clock = FakeClock(wall: server.now().wall + ahead, boot: server.now().boot)
            clocks.append(clock)
            instances.append(try SharedInstance(name, in: place, clock: clock, server: server))
        }

        func advance(_ milliseconds: Int64) { for clock in clocks + [server] { clock.advance(milliseconds) } }

        func step(_ milliseconds: Int64) { for clock in clocks + [server] { clock.step(milliseconds) } }

        func remember(_ use: SignedUse, at instance: Int = 0) async throws -> SignedUse.Outcome {
            try await instances[instance].stores.remember(use)
        }

        func use(_ nonce: Int, r: Int? = nil, ahead: Int64 = 0) throws -> SignedUse {
            try ReplayStoreTests.use(
                at: server.now().seconds + ahead, nonce: ReplayStoreTests.nonce(nonce), r: r ?? nonce)
        }

        func close() async {
            for instance in instances { await instance.close() }
        }
    }

    private static func with(
        ahead: [Int64] = [0], in place: String = "", _ body: (inout Rig) async throws -> Void
    ) async throws {
        var rig = try Rig(ahead: ahead, in: place)
        try await body(&rig)
        await rig.close()
    }

    /// Its error says so, it accepts and issues nothing, and it works again when its clock is right.
    @Test(arguments: SharedStoreTests.kinds, [Int64(2_001), -2_001, 60_000, -60_000, 3_600_000])
    func oneThatDiffersDoesNotServe(_: StoreKind, ahead: Int64) async throws {
        try await Self.with(ahead: [0, 2_000, -2_000, ahead]) { (rig) async throws in
            for instance in 0..<3 {
                #expect(try await rig.remember(rig.use(instance), at: instance) == .fresh, "\(instance)")
            }
            let stores = rig.instances[3].stores
            let use = try rig.use(9)
            let errors = await [
                errorThrown { try await stores.remember(use) },
                errorThrown { try await stores.put(ChallengeStoreTests.entry(stores), "one") },
                errorThrown { try await stores.take("one") },
            ]
            for error in errors {
                #expect(error?.code == .storeFailed && error?.retryAfter != nil)
                #expect(error?.message.contains("clock is \(ahead) ms ahead of Redis's") == true)
            }
            let redis = rig.instances[3].redis
            rig.clocks[3].step(-ahead)
            redis.clock.compare(with: [0])
            #expect(try await rig.remember(use, at: 3) == .fresh)
            try await stores.put(ChallengeStoreTests.entry(stores), "one")
        }
    }

    @Test(arguments: SharedStoreTests.kinds)
    func nothingIsAcceptedTwice(_: StoreKind) async throws {
        try await Self.with(ahead: [0, 1_500]) { (rig) async throws in
            let use = try rig.use(1)
            #expect(try await rig.remember(use) == .fresh)
            #expect(try await rig.remember(use, at: 1) == .replay)
            rig.advance(659_999)
            #expect(try await rig.remember(use, at: 1) == .mayBeForgotten)
            rig.advance(1)
            #expect(try await rig.remember(use, at: 1) == .mayBeForgotten)
            // A request dated further ahead than allowed would still be in time when its entry expires.
            #expect(try await rig.remember(rig.use(2, ahead: 400), at: 1) == .mayBeForgotten)
        }
    }

    /// Each entry is there for 660 s, by both of its names.
    @Test(arguments: SharedStoreTests.kinds)
    func rememberedFor660Seconds(_: StoreKind) async throws {
        try await Self.with { (rig) async throws in
            #expect(try await rig.remember(rig.use(1)) == .fresh)
            rig.advance(659_999)
            #expect(try await rig.remember(rig.use(1, r: 2)) == .replay)
            #expect(try await rig.remember(rig.use(2, r: 1)) == .replay)
            rig.advance(1)
            #expect(try await rig.remember(rig.use(1)) == .fresh)
        }
    }

    /// All clocks are set back after an entry has expired: either far, so that they are believed, or a little, so that
    /// time stands still.
    @Test(arguments: SharedStoreTests.kinds, [Int64(59_000), 661_000])
    func clocksThatAreSetBackAcceptNothingTwice(_: StoreKind, back: Int64) async throws {
        try await Self.with { (rig) async throws in
            let use = try rig.use(1)
            #expect(try await rig.remember(use) == .fresh)
            rig.advance(661_000)
            let later = try rig.use(2)
            #expect(try await rig.remember(later) == .fresh)
            rig.step(-back)
            rig.instances[0].redis.clock.compare(with: [0, 0])
            for use in [use, later] {
                let outcome = try? await rig.remember(use)
                #expect(outcome != .fresh)
            }
        }
    }

    /// Redis has forgotten, and it and the instances are a minute behind: accepted requests are refused until the
    /// clocks have caught up, and new ones are not.
    @Test(arguments: SharedStoreTests.kinds, [Int64(-60_000), -299_000, 0, 60_000])
    func aRestartWithAnotherTimeAcceptsNothingTwice(_: StoreKind, step: Int64) async throws {
        try await Self.with(in: SharedStoreTests.fragile) { (rig) async throws in
            let ahead: [Int64] = [0, 1, 2, 100]
            let uses = try ahead.enumerated().map { try rig.use($0, ahead: $1) }
            for use in uses { #expect(try await rig.remember(use) == .fresh) }
            let now = rig.server.now().seconds
            await rig.instances[0].close()
            try SharedServers.command("redis stop", "redis start")
            rig.server.step(step)
            try rig.add()
            rig.instances.removeFirst()
            rig.clocks.removeFirst()
            for _ in 0..<30 {
                for use in uses { #expect(try await rig.remember(use) == .mayBeForgotten, "\(use.timestamp)") }
                rig.advance(11_000)
            }
            let new = try ReplayStoreTests.use(
                at: max(now + 3, rig.server.now().seconds), device: "new", nonce: ReplayStoreTests.nonce(99),
                key: "new", r: 99)
            #expect(try await rig.remember(new) == .fresh)
        }
    }

    /// An hour ahead and back again: nothing is served meanwhile, everything afterwards, and nothing twice.
    @Test(arguments: SharedStoreTests.kinds, [true, false])
    func aJumpHealsByItself(_: StoreKind, ofAll: Bool) async throws {
        try await Self.with(ahead: [0, 0]) { (rig) async throws in
            let use = try rig.use(1)
            #expect(try await rig.remember(use) == .fresh)
            #expect(try await rig.remember(use, at: 1) == .replay)
            let clocks = ofAll ? rig.clocks + [rig.server] : [rig.server]
            for clock in clocks { clock.step(3_600_000) }
            for _ in 0..<3 {
                rig.advance(1_000)
                let new = try rig.use(2)
                for index in 0..<2 {
                    #expect(await errorThrown { try await rig.remember(new, at: index) }?.code == .storeFailed)
                    _ = try await rig.instances[index].redis.look()
                }
            }
            for clock in clocks { clock.step(-3_600_000) }
            for index in 0..<2 {
                #expect(try await rig.remember(use, at: index) == .mayBeForgotten)
                #expect(try await rig.remember(rig.use(10 + index), at: index) == .fresh)
            }
        }
    }

    /// A jump that every clock makes is believed; when they come back, newly signed requests are not replays.
    @Test(arguments: SharedStoreTests.kinds)
    func aJumpOfAllClocksIsBelieved(_: StoreKind) async throws {
        try await Self.with { (rig) async throws in
            let before = try rig.use(1)
            #expect(try await rig.remember(before) == .fresh)
            func step(_ milliseconds: Int64) {
                rig.step(milliseconds)
                rig.instances[0].redis.clock.compare(with: [0, 0])
            }
            step(3_600_000)
            let during = try rig.use(2)
            #expect(try await rig.remember(during) == .fresh)
            rig.advance(5_000)
            step(-3_600_000)
            #expect(try await rig.remember(before) == .mayBeForgotten)
            #expect(try await rig.remember(rig.use(3)) == .fresh)
            // When the wrongly announced time has really come.
            rig.advance(3_595_000)
            #expect(try await rig.remember(during) == .mayBeForgotten)
        }
    }

    @Test(arguments: SharedStoreTests.kinds)
    func challengesLiveByRedissTime(_: StoreKind) async throws {
        try await Self.with(ahead: [0, 1_900, -1_900]) { (rig) async throws in
            for (index, giver) in rig.instances.map(\.stores).enumerated() {
                for taker in rig.instances.map(\.stores) {
                    try await giver.put(ChallengeStoreTests.entry(giver), "\(index)")
                    rig.advance(89_999)
                    #expect(try await taker.take("\(index)") != nil)
                    try await giver.put(ChallengeStoreTests.entry(giver), "\(index)")
                    rig.advance(90_000)
                    #expect(try await taker.take("\(index)") == nil)
                }
            }
        }
    }

    /// Without a test's replacement, the time is Redis's own.
    @Test(arguments: SharedStoreTests.kinds)
    func theTimeIsRediss(_: StoreKind) async throws {
        let (name, real) = (SharedServers.name(), SystemClock().now())
        let postgres = try SharedServers.postgres(name)
        let redis = try SharedServers.redis(name, clock: SystemClock(), server: nil, horizon: postgres)
        let time = try #require(try await redis.look())
        #expect(real.wall - 1...real.wall + 600_000 ~= time)
        for (ahead, expected) in [
            (Int64(-3_600), SignedUse.Outcome.mayBeForgotten), (0, .fresh), (60, .replay), (3_600, .mayBeForgotten),
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
        try await Self.with(ahead: [0, 0]) { (rig) async throws in
            let use = try rig.use(1, ahead: ahead)
            #expect(try await rig.remember(use) == .fresh)
            #expect(try await rig.remember(use, at: 1) == .replay)
            #expect(try await rig.remember(rig.use(2, ahead: ahead - 1), at: 1) == .fresh)
        }
    }
}
