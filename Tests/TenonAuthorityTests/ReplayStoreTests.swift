// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Tenon
import Testing

@testable import TenonAuthority

@Suite struct ReplayStoreTests {
    private var stores: TestStores { .current }

    static func nonce(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    /// - Parameter r: the same number is the same r.
    static func use(
        _ stores: TestStores, device: String = "d", nonce: Int, key: String = "k", r: Int? = nil, ahead: Int64 = 0
    ) throws -> SignedUse {
        try use(
            at: stores.clock.now().seconds + ahead, device: device, nonce: Self.nonce(nonce), key: key, r: r ?? nonce)
    }

    /// A use of one kind or another, by its number.
    static func anyUse(
        _ stores: TestStores, device: String = "d", _ number: Int, ahead: Int64 = 0
    ) throws -> SignedUse { try anyUse(at: stores.clock.now().seconds + ahead, device: device, number) }

    static func anyUse(at timestamp: Int64, device: String = "d", _ number: Int) throws -> SignedUse {
        var use = try use(at: timestamp, device: device, nonce: nonce(number), r: number)
        switch number % 3 {
        case 0: break
        case 1: use.mark = .nonce(nonce(number))
        default:
            let (key, root) = (try Sample.digest("k"), try Sample.digest("root \(number / 600)"))
            use.mark = .member(thumbprint: key, root: root, size: 600, index: number % 600)
        }
        return use
    }

    static func use(
        at timestamp: Int64, device: String = "d", nonce: String, key: String = "k", r: Int, s: UInt8 = 1
    ) throws -> SignedUse {
        let half = try Sample.digest("r \(r)").rawRepresentation
        let signature = try Signature(rawRepresentation: half + [UInt8](repeating: s, count: 32))
        return SignedUse(deviceID: device, nonce: nonce, thumbprint: key, signature: signature, timestamp: timestamp)
    }

    @Test(.stores) func eachNonceOfADeviceOnce() async throws {
        let first = try await stores.remember(Self.use(stores, nonce: 1))
        #expect(first == .fresh)
        #expect(try await stores.remember(Self.use(stores, nonce: 1, r: 2)) == .replay)
        #expect(try await stores.remember(Self.use(stores, device: "e", nonce: 1, key: "l")) == .fresh)
        // A nonce whose request was refused is not spent.
        #expect(try await stores.remember(Self.use(stores, nonce: 3, r: 1)) == .replay)
        #expect(try await stores.remember(Self.use(stores, nonce: 3)) == .fresh)
    }

    /// After a step back, the wall clock stands still or follows the boot clock: requests that are in time by it are
    /// remembered.
    @Test(arguments: [Int64(-59_000), -700_000]) func aClockThatIsSetBackForgetsNothing(step: Int64) async throws {
        try await StoreKind.sqlite.withStores { stores in
            let use = try Self.use(stores, nonce: 1, ahead: 300)
            #expect(try await stores.remember(use) == .fresh)
            stores.clock.step(step)
            for _ in 0..<60 {
                stores.clock.advance(10_000)
                #expect(try await stores.remember(use) == .replay)
            }
        }
    }

    /// Two nonces that differ in one digit, whichever it is, are two.
    @Test(.stores) func eachDigitOfANonceCounts() async throws {
        let now = stores.clock.now().seconds
        let text = Array("00000000-0000-4000-8000-000000000000".utf8)
        for place in text.indices where text[place] != UInt8(ascii: "-") {
            var nonce = text
            nonce[place] = UInt8(ascii: "f")
            let use = try Self.use(at: now, nonce: String(decoding: nonce, as: UTF8.self), r: place)
            #expect(try await stores.remember(use) == .fresh, "\(place)")
            #expect(try await stores.remember(use) == .replay, "\(place)")
        }
    }

    @Test(.stores) func aUUIDHasNoCase() async throws {
        let now = stores.clock.now().seconds
        let text = "abcdefab-cdef-4abc-8def-abcdefabcdef"
        #expect(try await stores.remember(Self.use(at: now, nonce: text, r: 1)) == .fresh)
        let upper = try Self.use(at: now, nonce: text.uppercased(), r: 2)
        #expect(try await stores.remember(upper) == .replay)
        for wrong in ["", "1", String(text.dropLast()), text + "0", "+" + text.dropFirst(), "g" + text.dropFirst()] {
            let use = try Self.use(at: now, nonce: wrong, r: 3)
            #expect(await errorThrown { try await stores.remember(use) }?.code == .nonce)
        }
    }

    /// The weakness of version 1: of its headers, only the time is signed, and each signature has two valid values of
    /// s.
    @Test(.stores) func eachROfAKeyOnce() async throws {
        let now = stores.clock.now().seconds
        for (device, nonce, s, key, expected) in [
            ("d", 1, UInt8(1), "k", SignedUse.Outcome.fresh), ("d", 2, 1, "k", .replay), ("d", 3, 2, "k", .replay),
            ("d", 4, 1, "l", .fresh),
        ] {
            let use = try Self.use(at: now, device: device, nonce: Self.nonce(nonce), key: key, r: 7, s: s)
            #expect(try await stores.remember(use) == expected)
        }
    }

    @Test(.stores) func oneOf64IsFresh() async throws {
        for round in 1...8 {
            let sameNonce = try await atOnce(64) { index in
                try await stores.remember(Self.use(stores, nonce: round, r: round * 1_000 + index))
            }
            #expect(sameNonce.count { $0 == .fresh } == 1)
            let sameR = try await atOnce(64) { index in
                try await stores.remember(
                    Self.use(stores, device: "e", nonce: round * 1_000 + index, key: "l", r: round))
            }
            #expect(sameR.count { $0 == .fresh } == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aDeviceHasItsLimit(_ kind: StoreKind) async throws {
        try await kind.withStores(replayLimits: .init(perDevice: 3)) { stores async throws in
            for nonce in 1...3 { #expect(try await stores.remember(Self.use(stores, nonce: nonce)) == .fresh) }
            #expect(try await stores.remember(Self.use(stores, nonce: 4)) == .tooMany)
            #expect(try await stores.remember(Self.use(stores, nonce: 3)) == .replay)
            #expect(try await stores.remember(Self.use(stores, device: "e", nonce: 4, key: "l")) == .fresh)
        }
    }
}

/// Properties of the store in memory only: its own clock, and an earlier process.
@Suite struct MemoryReplayTests {
    @Test func rememberedFor660Seconds() async throws {
        try await StoreKind.sqlite.withStores { stores in
            let use = try ReplayStoreTests.use(stores, nonce: 1)
            #expect(try await stores.remember(use) == .fresh)
            stores.clock.advance(659_999)
            #expect(try await stores.remember(use) == .replay)
            stores.clock.advance(1)
            #expect(try await stores.remember(use) == .fresh)
        }
    }

    @Test func fullIsBusyAndForgetsNothing() async throws {
        try await StoreKind.sqlite.withStores(replayLimits: .init(total: 3)) { stores in
            for nonce in 1...3 { _ = try await stores.remember(ReplayStoreTests.use(stores, nonce: nonce)) }
            let more = try ReplayStoreTests.use(stores, device: "e", nonce: 4)
            let error = await errorThrown { try await stores.remember(more) }
            #expect(error?.code == .storeFull)
            #expect(error?.retryAfter != nil)
            #expect(try await stores.remember(ReplayStoreTests.use(stores, nonce: 1)) == .replay)
            stores.clock.advance(660_000)
            #expect(try await stores.remember(ReplayStoreTests.use(stores, device: "e", nonce: 4)) == .fresh)
        }
    }

    /// The set is the same after many have come and gone.
    @Test func oldOnesGoAsNewOnesCome() async throws {
        try await StoreKind.sqlite.withStores(replayLimits: .init(perDevice: 700, total: 700)) { stores in
            for number in 1...1_400 {
                #expect(try await stores.remember(ReplayStoreTests.use(stores, nonce: number)) == .fresh)
                stores.clock.advance(1_000)
            }
            for number in 1...1_400 {
                let again = try ReplayStoreTests.use(stores, nonce: number, r: 10_000 + number)
                let expected: SignedUse.Outcome = number > 1_400 - 660 + 1 ? .replay : .fresh
                guard number % 100 == 0 || 739...743 ~= number else { continue }
                #expect(try await stores.remember(again) == expected, "\(number)")
            }
        }
    }

    /// Two processes of one authority, and a change of its clock between them.
    private static func nextLife(
        ahead: [Int64] = [0], first: Int = 0, between: (FakeClock) -> Void = { _ in },
        _ body: (MemoryReplayStore, FakeClock, [SignedUse]) async throws -> Void
    ) async throws {
        let (folder, clock) = (try TestFolder(), FakeClock())
        var uses: [SignedUse] = []
        for life in 1...2 {
            let store = try SQLiteStore(in: AuthorityFolder(folder.path), clock: clock)
            let replays = try await MemoryReplayStore(clock: store.clock, horizon: store)
            if life == 2 {
                try await body(replays, clock, uses)
            } else {
                for (index, ahead) in ahead.enumerated() {
                    let use = try ReplayStoreTests.anyUse(
                        at: clock.now().seconds + ahead, device: "\(index)", first + index)
                    #expect(try await replays.remember(use) == .fresh)
                    uses.append(use)
                }
            }
            await store.close()
            between(clock)
        }
    }

    /// By each kind of use.
    @Test(arguments: 0..<3) func whatWasAcceptedBeforeIsRefused(_ first: Int) async throws {
        try await Self.nextLife(ahead: [-300, -1, 0, 1, 2, 3, 299, 300], first: first) { replays, clock, uses in
            for use in uses { #expect(try await replays.remember(use) == .mayBeForgotten) }
            // A device that was ahead waits until its clock has passed; the others do not wait for it.
            let soon = clock.now().seconds + 3
            for (device, expected) in [("0", SignedUse.Outcome.fresh), ("7", .mayBeForgotten), ("new", .fresh)] {
                let use = try ReplayStoreTests.use(
                    at: soon, device: device, nonce: ReplayStoreTests.nonce(99), key: device, r: 99)
                #expect(try await replays.remember(use) == expected)
            }
            clock.advance(301_000)
            let later = try ReplayStoreTests.use(
                at: clock.now().seconds, device: "7", nonce: ReplayStoreTests.nonce(100), r: 100)
            #expect(try await replays.remember(later) == .fresh)
        }
    }

    /// A machine without a battery-backed clock starts in the past, and only later learns the time.
    @Test func aClockThatIsBehindAfterAStartHidesNothing() async throws {
        try await Self.nextLife(ahead: [0]) { clock in
            clock.reboot()
            clock.step(-86_400_000)
        } _: { replays, clock, uses async throws in
            clock.step(86_400_000)
            #expect(try await replays.remember(uses[0]) == .mayBeForgotten)
        }
    }

    /// A request is not accepted if the next process would not know of it.
    @Test func withoutAHorizonNothingIsAccepted() async throws {
        let (folder, clock) = (try TestFolder(), FakeClock())
        let store = try SQLiteStore(in: AuthorityFolder(folder.path), clock: clock)
        let replays = try await MemoryReplayStore(clock: store.clock, horizon: store)
        await store.close()
        for ahead: Int64 in [0, 300] {
            let use = try ReplayStoreTests.use(at: clock.now().seconds + ahead, nonce: ReplayStoreTests.nonce(1), r: 1)
            #expect(await errorThrown { try await replays.remember(use) }?.code == .storeClosed)
        }
    }

    /// A horizon counts once it is stored: a caller that arrives meanwhile stores it, too.
    @Test func aHorizonThatIsUnderWayIsNone() async throws {
        let (clock, horizon) = (FakeClock(), SlowHorizon())
        let replays = try await MemoryReplayStore(clock: clock, horizon: horizon)
        for (number, ahead) in [Int64(0), 300].enumerated() {
            let seconds = clock.now().seconds + ahead
            let uses = try (0..<2).map { index in
                try ReplayStoreTests.use(at: seconds, nonce: ReplayStoreTests.nonce(index), r: number * 2 + index)
            }
            horizon.meanwhile { _ = try? await replays.remember(uses[1]) }
            let before = horizon.count
            _ = try await replays.remember(uses[0])
            #expect(horizon.count == before + 2, "\(ahead)")
        }
    }

    /// A request that was refused because its horizon could not be stored is not used up.
    @Test(arguments: [Int64(0), 300]) func withoutAHorizonNothingIsSpent(ahead: Int64) async throws {
        let (clock, horizon) = (FakeClock(), SlowHorizon())
        let replays = try await MemoryReplayStore(clock: clock, horizon: horizon)
        let use = try ReplayStoreTests.use(at: clock.now().seconds + ahead, nonce: ReplayStoreTests.nonce(1), r: 1)
        horizon.fail()
        #expect(await errorThrown { try await replays.remember(use) }?.code == .storeFailed)
        #expect(try await replays.remember(use) == .fresh)
    }

    /// Requests that are in time by a clock that was set back are remembered up to the last second.
    @Test func whatIsInTimeIsRemembered() async throws {
        let (clock, horizon) = (FakeClock(), SlowHorizon())
        let replays = try await MemoryReplayStore(clock: clock, horizon: horizon)
        let use = try ReplayStoreTests.use(at: clock.now().seconds, nonce: ReplayStoreTests.nonce(1), r: 1)
        #expect(try await replays.remember(use) == .fresh)
        clock.advance(MemoryReplayStore.retention)
        clock.step(MemoryReplayStore.window * 1_000 - MemoryReplayStore.retention)
        #expect(try await replays.remember(use) == .replay)
        clock.step(1_000)
        #expect(try await replays.remember(use) == .fresh)
    }

    /// The same with Redis, where one caller stores the horizon and the others wait for it.
    @Test(arguments: SharedStoreTests.kinds) func aHorizonThatIsUnderWayIsNoneInRedis(_: StoreKind) async throws {
        let (clock, horizon, fresh) = (FakeClock(), SlowHorizon(), Lines())
        let store = try SharedServers.redis(SharedServers.name(), clock: clock, server: clock, horizon: horizon)
        let uses = try (0..<2).map { index in
            try ReplayStoreTests.use(at: clock.now().seconds, nonce: ReplayStoreTests.nonce(index), r: index)
        }
        _ = try await store.look()
        let other = Mutex<Task<Void, Never>?>(nil)
        horizon.meanwhile {
            let task = Task { if (try? await store.remember(uses[1])) == .fresh { fresh.add("fresh") } }
            other.withLock { $0 = task }
            // Longer than an acceptance takes.
            for _ in 0..<100 { _ = try? await store.look() }
            #expect(fresh.all.isEmpty)
        }
        #expect(try await store.remember(uses[0]) == .fresh)
        await other.withLock { $0 }?.value
        #expect(fresh.all.count == 1)
        await store.close()
    }

    /// Overlapping spans are merged, up to the latest end.
    @Test func spansAreMerged() {
        func span(_ from: Int64, _ to: Int64) -> ReplaySpan { ReplaySpan(from: from, to: to) }
        let all = ReplayHorizons(
            all: [span(50, 60), span(0, 30), span(10, 20), span(30, 40)], devices: ["d": [span(5, 5)]])
        #expect(all.merged() == ReplayHorizons(all: [span(0, 40), span(50, 60)], devices: ["d": [span(5, 5)]]))
    }
}

/// Stores nothing, fails when told to, and lets other callers run meanwhile.
final class SlowHorizon: ReplayHorizon {
    private struct State {
        var count = 0
        var fails = false
        var meanwhile: (@Sendable () async -> Void)?
    }

    private let state = Mutex(State())

    /// The number of calls to store.
    var count: Int { state.withLock { $0.count } }

    func meanwhile(_ body: @escaping @Sendable () async -> Void) { state.withLock { $0.meanwhile = body } }

    /// Called once.
    func fail() { state.withLock { $0.fails = true } }

    func raise(device: String?, to span: ReplaySpan, epoch: String) async throws(TenonError) {
        let before = state.withLock { state in
            defer { (state.count, state.fails, state.meanwhile) = (state.count + 1, false, nil) }
            return state
        }
        await before.meanwhile?()
        if before.fails { throw TenonError(.storeFailed, message: "There is no room.") }
    }

    func horizons(besides epoch: String?) async throws(TenonError) -> ReplayHorizons? { nil }
}
