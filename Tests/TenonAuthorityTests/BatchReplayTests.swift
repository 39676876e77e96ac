// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TestFolders
import Testing

@testable import TenonAuthority

/// The use of requests of signature version 2: a bit below a root, or a nonce.
@Suite struct BatchReplayTests {
    private var stores: TestStores { .current }

    static func member(
        _ stores: TestStores, device: String = "d", root: Int, size: Int = 64, index: Int, ahead: Int64 = 0
    ) throws -> SignedUse {
        SignedUse(
            deviceID: device,
            mark: .member(
                thumbprint: try Sample.digest("k"), root: try Sample.digest("root \(root)"), size: size, index: index),
            timestamp: stores.clock.now().seconds + ahead)
    }

    static func nonce(_ stores: TestStores, device: String = "d", _ number: Int) -> SignedUse {
        SignedUse(
            deviceID: device, mark: .nonce(ReplayStoreTests.nonce(number)), timestamp: stores.clock.now().seconds)
    }

    @Test(.stores) func eachMemberOnce() async throws {
        for size in [1, 2, 63, 64, 65, 128, 129, 1_024] {
            let indices = Set([0, 1, 7, 8, 62, 63, 64, 65, 127, 128, size - 1].filter { $0 < size }).sorted()
            for index in indices {
                let use = try Self.member(stores, root: size, size: size, index: index)
                #expect(try await stores.remember(use) == .fresh, "\(index) of \(size)")
                #expect(try await stores.remember(use) == .replay, "\(index) of \(size)")
            }
        }
        #expect(try await stores.remember(Self.nonce(stores, 1)) == .fresh)
        #expect(try await stores.remember(Self.nonce(stores, 1)) == .replay)
        #expect(try await stores.remember(Self.nonce(stores, device: "e", 1)) == .fresh)
        let broken = SignedUse(deviceID: "d", mark: .nonce("x"), timestamp: stores.clock.now().seconds)
        #expect(await errorThrown { try await stores.remember(broken) }?.code == .nonce)
    }

    @Test(.stores) func oneOf64IsFresh() async throws {
        for index in 0..<8 {
            let outcomes = try await atOnce(64) { _ in
                try await stores.remember(Self.member(stores, root: 1, index: index))
            }
            #expect(outcomes.count { $0 == .fresh } == 1)
        }
        let outcomes = try await atOnce(64) { try await stores.remember(Self.member(stores, root: 2, index: $0)) }
        #expect(outcomes.allSatisfy { $0 == .fresh })
    }

    /// An entry is a root or a nonce, however many requests are below the root; version 1 has entries of its own.
    @Test(arguments: StoreKind.allCases)
    func aDeviceHasItsLimit(_ kind: StoreKind) async throws {
        try await kind.withStores(replayLimits: .init(perDevice: 1, rootsPerDevice: 3)) { stores in
            for root in 1...2 {
                for index in 0..<64 {
                    let use = try Self.member(stores, root: root, index: index)
                    #expect(try await stores.remember(use) == .fresh)
                }
            }
            #expect(try await stores.remember(Self.nonce(stores, 1)) == .fresh)
            #expect(try await stores.remember(Self.nonce(stores, 2)) == .tooMany)
            #expect(try await stores.remember(Self.member(stores, root: 3, index: 0)) == .tooMany)
            #expect(try await stores.remember(Self.member(stores, root: 2, index: 0)) == .replay)
            #expect(try await stores.remember(Self.nonce(stores, 1)) == .replay)
            #expect(try await stores.remember(Self.member(stores, device: "e", root: 3, index: 0)) == .fresh)
            #expect(try await stores.remember(ReplayStoreTests.use(stores, nonce: 9)) == .fresh)
            #expect(try await stores.remember(ReplayStoreTests.use(stores, nonce: 10)) == .tooMany)
        }
    }

    /// Each use of a batch counts for 660 s, though the batch began earlier; and then all of it is forgotten.
    @Test(arguments: StoreKind.allCases)
    func rememberedFor660Seconds(_ kind: StoreKind) async throws {
        try await kind.withStores(replayLimits: .init(rootsPerDevice: 1)) { stores in
            #expect(try await stores.remember(Self.member(stores, root: 1, index: 0, ahead: -300)) == .fresh)
            // Redis takes a longer leap of its clock for a step.
            func pass(_ steps: Range<Int>) async throws {
                for step in steps {
                    stores.clock.advance(50_000)
                    let use = try ReplayStoreTests.use(stores, device: "e", nonce: step, key: "l")
                    #expect(try await stores.remember(use) == .fresh)
                }
            }
            for index in 1..<5 {
                try await pass(index * 5..<index * 5 + 5)
                #expect(try await stores.remember(Self.member(stores, root: 1, index: index, ahead: -300)) == .fresh)
                for earlier in 0...index {
                    let again = try Self.member(stores, root: 1, index: earlier, ahead: 0)
                    #expect(try await stores.remember(again) == .replay, "\(earlier) after \(index)")
                }
            }
            #expect(try await stores.remember(Self.member(stores, root: 2, index: 0)) == .tooMany)
            try await pass(100..<128)
            #expect(try await stores.remember(Self.member(stores, root: 2, index: 0)) == .fresh)
        }
    }

    /// With the first entry of a device goes that entry alone.
    @Test(.stores) func eachEntryHasItsOwnTime() async throws {
        #expect(try await stores.remember(Self.nonce(stores, 1)) == .fresh)
        var later = Self.nonce(stores, 2)
        // Redis takes a longer leap of its clock for a step.
        for step in 0..<14 {
            stores.clock.advance(50_000)
            _ = try await stores.remember(Self.nonce(stores, device: "e", step))
            guard step == 7 else { continue }
            later = Self.nonce(stores, 2)
            #expect(try await stores.remember(later) == .fresh)
        }
        #expect(try await stores.remember(later) == .replay)
    }

    /// While the wall clock stands still a request stays in time, and so does its bit.
    @Test func aClockThatStandsStillForgetsNoBatch() async throws {
        let (folder, clock) = (try TestFolder(), FakeClock())
        let store = try SQLiteStore(in: AuthorityFolder(folder.path), clock: clock)
        let replays = try await MemoryReplayStore(clock: clock, horizon: store)
        let mark = SignedUse.Mark.member(
            thumbprint: try Sample.digest("k"), root: try Sample.digest("root"), size: 4, index: 3)
        let use = SignedUse(deviceID: "d", mark: mark, timestamp: clock.now().seconds)
        #expect(try await replays.remember(use) == .fresh)
        clock.advance(681_000)
        clock.step(-681_000)
        #expect(try await replays.remember(use) == .replay)
        await store.close()
    }

    @Test(.stores) func bitsHaveAnEnd() async throws {
        #expect(try await stores.remember(Self.member(stores, root: 1, index: 0)) == .fresh)
        guard let redis = stores.replays as? RedisStore else { return }
        let script = Array("return redis.call('PTTL', redis.call('KEYS', ARGV[1] .. '*')[1])".utf8)
        let command = [Array("EVAL".utf8), script, Array("0".utf8), redis.key("bits:")]
        let left = try #require(try await redis.run { _ in command }.integer)
        #expect(1...MemoryReplayStore.retention ~= left)
    }

    /// A full store takes no new batch, and goes on with those that it has.
    @Test func fullIsBusyAndForgetsNothing() async throws {
        try await StoreKind.sqlite.withStores(replayLimits: .init(total: 2)) { stores in
            #expect(try await stores.remember(Self.member(stores, root: 1, index: 0)) == .fresh)
            #expect(try await stores.remember(ReplayStoreTests.use(stores, nonce: 1)) == .fresh)
            for use in [try Self.member(stores, root: 2, index: 0), Self.nonce(stores, 1)] {
                #expect(await errorThrown { try await stores.remember(use) }?.code == .storeFull)
            }
            #expect(try await stores.remember(Self.member(stores, root: 1, index: 1)) == .fresh)
            #expect(try await stores.remember(Self.member(stores, root: 1, index: 0)) == .replay)
        }
    }

    /// What a device at full speed needs: 1,500 requests a second for 60 s.
    @Test func aMinuteOfADeviceAtFullSpeed() async throws {
        try await StoreKind.sqlite.withStores { stores in
            let rates = RequestRates(window: 1_000)
            var refused = 0
            for batch in 0..<60 * 30 {
                for index in 0..<50 {
                    try rates.count("d", limit: AuthorityLimits().requestsPerSecond, at: stores.clock.now())
                    let outcome = try await stores.remember(Self.member(stores, root: batch, size: 50, index: index))
                    if outcome != .fresh { refused += 1 }
                }
                if batch % 30 == 29 { stores.clock.advance(1_000) }
            }
            #expect(refused == 0)
        }
    }

    /// The bytes that a request takes in memory or in Redis. TENON_TEST_BYTES names what is measured and printed: version
    /// 1 (0), a plain request (1), or batches of this size. A process measures one of them, because memory that was freed
    /// is used again; without the name it only runs.
    @Test(arguments: StoreKind.allCases)
    func bytesOfARequest(_ kind: StoreKind) async throws {
        let named = getenv("TENON_TEST_BYTES").flatMap { Int(String(cString: $0)) }
        let (size, count) = (named ?? 16, named == nil ? 64 : kind == .sqlite ? 98_304 : 24_576)
        try await kind.withStores { stores in
            _ = try await stores.remember(ReplayStoreTests.use(stores, device: "other", nonce: 1, key: "o"))
            let before = try await Self.bytes(stores)
            for number in 0..<count {
                let device = "00000000-0000-4000-8000-00000000000\(number / 9_216)"
                var use = try Self.member(
                    stores, device: device, root: number / max(1, size), size: size, index: number % max(1, size))
                if size == 1 { use.mark = .nonce(ReplayStoreTests.nonce(number)) }
                if size == 0 {
                    let key = String(repeating: "k", count: 43)
                    use = try ReplayStoreTests.use(stores, device: device, nonce: number, key: key)
                }
                #expect(try await stores.remember(use) == .fresh)
            }
            let each = Double(try await Self.bytes(stores) - before) / Double(count)
            if named != nil {
                print("\(kind), \(size): \(each) bytes a request, \(each * Double(max(1, size))) an entry")
            }
        }
    }

    private static func bytes(_ stores: TestStores) async throws -> Int {
        guard let redis = stores.replays as? RedisStore else {
            let pages = String(decoding: try readFile("/proc/self/statm"), as: UTF8.self).split(separator: " ")
            return try #require(Int(pages[1])) * Int(getpagesize())
        }
        let reply = try await redis.run { _ in ["INFO", "memory"].map { Array($0.utf8) } }
        return try #require(RedisConnection.facts(reply)["used_memory"].flatMap { Int($0) })
    }
}

/// Counts of the present minute, or second.
@Suite struct RequestRatesTests {
    /// A place in an earlier second does not free one in this second, and a refusal says when the next one begins.
    @Test func placesThatAreGivenBack() throws {
        let rates = RequestRates(window: 1_000)
        let (before, now) = (AuthorityInstant(wall: 0, boot: 1_999), AuthorityInstant(wall: 0, boot: 2_500))
        try rates.count("d", limit: 1, at: before)
        try rates.count("d", limit: 1, at: now)
        rates.giveBack("d", at: before)
        let refusal = #expect(throws: Refusal.self) { try rates.count("d", limit: 1, at: now) }
        #expect(refusal?.retryAfter == 1)
        rates.giveBack("d", at: now)
        try rates.count("d", limit: 1, at: now)
    }

    /// When as many names are counted as may be, the others share one count.
    @Test func theLimitOfNames() throws {
        let (rates, now) = (RequestRates(capacity: 1), AuthorityInstant(wall: 0, boot: 0))
        for name in ["a", "b"] { try rates.count(name, limit: 1, at: now) }
        for name in ["a", "c"] { #expect(throws: Refusal.self) { try rates.count(name, limit: 1, at: now) } }
    }
}

/// The table of roots whose signatures were verified.
@Suite struct KnownRootsTests {
    /// Roots of keys, made as a verifier makes them.
    private static func roots(_ count: Int, of device: TestDevice) throws -> [SignedRoot] {
        try (0..<count).map { _ in
            let draft = try CoveredDraft(device, at: 1_800_000_000)
            let bytes = [UInt8](repeating: 1, count: 64) + [0, 1, 0, 0]
            let signature = try ReceivedSignature(
                input: "tenon=\(draft.parameters)", value: "tenon=:\(TextEncoding.base64.encode(bytes)):")
            return try signature.root(
                of: CoveredTexts(
                    method: draft.method, authority: draft.authority, target: draft.path, contentType: nil,
                    contentEncoding: nil, appID: draft.app, deviceID: draft.device,
                    content: Digest(hashing: draft.body)))
        }
    }

    private static func device() throws -> TestDevice { TestDevice(app: "a", id: "d", key: try SoftwareKey()) }

    @Test func whatWasLearntIsKnown() throws {
        let (known, now) = (KnownRoots(), AuthorityInstant(wall: 0, boot: 0))
        let roots = try Self.roots(2, of: Self.device())
        #expect(!known.knows(roots[0], at: now))
        known.learn(roots[0], at: now)
        known.learn(roots[0], at: now)
        #expect(known.knows(roots[0], at: now) && !known.knows(roots[1], at: now) && known.count == 1)
    }

    /// A key pushes out its own roots, the least recently used first, and no other's.
    @Test func theShareOfAKey() throws {
        let (known, now) = (KnownRoots(perKey: 3), AuthorityInstant(wall: 0, boot: 0))
        let (own, other) = (try Self.roots(5, of: Self.device()), try Self.roots(1, of: Self.device()))
        for root in other + own[..<3] { known.learn(root, at: now) }
        #expect(known.knows(own[0], at: now))
        for root in own[3...] { known.learn(root, at: now) }
        #expect(own.map { known.knows($0, at: now) } == [true, false, false, true, true])
        #expect(known.knows(other[0], at: now) && known.count == 4)
    }

    @Test func theLimitOfAll() throws {
        let (known, now) = (KnownRoots(perKey: 2, total: 3), AuthorityInstant(wall: 0, boot: 0))
        let roots = try (0..<5).flatMap { _ in try Self.roots(1, of: Self.device()) }
        for root in roots[..<3] { known.learn(root, at: now) }
        #expect(known.knows(roots[0], at: now))
        for root in roots[3...] { known.learn(root, at: now) }
        #expect(roots.map { known.knows($0, at: now) } == [true, false, false, true, true] && known.count == 3)
    }

    @Test func whatIsNotUsedIsForgotten() throws {
        let known = KnownRoots()
        let roots = try Self.roots(2, of: Self.device())
        for root in roots { known.learn(root, at: AuthorityInstant(wall: 0, boot: 0)) }
        #expect(known.knows(roots[1], at: AuthorityInstant(wall: 0, boot: 660_000)))
        #expect(!known.knows(roots[0], at: AuthorityInstant(wall: 0, boot: 660_001)))
        #expect(known.knows(roots[1], at: AuthorityInstant(wall: 0, boot: 1_320_000)) && known.count == 1)
    }
}
