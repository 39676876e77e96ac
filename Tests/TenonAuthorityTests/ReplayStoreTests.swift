// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import Testing

@Suite struct ReplayStoreTests {
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

    static func use(
        at timestamp: Int64, device: String = "d", nonce: String, key: String = "k", r: Int, s: UInt8 = 1
    ) throws -> SignedUse {
        let half = try Sample.digest("r \(r)").rawRepresentation
        let signature = try Signature(rawRepresentation: half + [UInt8](repeating: s, count: 32))
        return SignedUse(deviceID: device, nonce: nonce, thumbprint: key, signature: signature, timestamp: timestamp)
    }

    @Test(arguments: StoreKind.allCases)
    func eachNonceOfADeviceOnce(_ kind: StoreKind) async throws {
        try await kind.withStores { stores in
            let first = try await stores.remember(Self.use(stores, nonce: 1))
            #expect(first == .fresh)
            #expect(try await stores.remember(Self.use(stores, nonce: 1, r: 2)) == .replay)
            #expect(try await stores.remember(Self.use(stores, device: "e", nonce: 1, key: "l")) == .fresh)
            // A nonce whose request was refused is not spent.
            #expect(try await stores.remember(Self.use(stores, nonce: 3, r: 1)) == .replay)
            #expect(try await stores.remember(Self.use(stores, nonce: 3)) == .fresh)
        }
    }

    /// A wall clock that was set back stands still meanwhile, or goes on by the boot clock: what is in time by it is
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

    @Test(arguments: StoreKind.allCases)
    func aUUIDHasNoCase(_ kind: StoreKind) async throws {
        try await kind.withStores { stores in
            let now = stores.clock.now().seconds
            let text = "abcdefab-cdef-4abc-8def-abcdefabcdef"
            #expect(try await stores.remember(Self.use(at: now, nonce: text, r: 1)) == .fresh)
            let upper = try Self.use(at: now, nonce: text.uppercased(), r: 2)
            #expect(try await stores.remember(upper) == .replay)
            for wrong in ["", "1", String(text.dropLast()), text + "0", "+" + text.dropFirst(), "g" + text.dropFirst()]
            {
                let use = try Self.use(at: now, nonce: wrong, r: 3)
                #expect(await errorThrown { try await stores.remember(use) }?.code == .nonce)
            }
        }
    }

    /// The hole of version 1: nothing of its headers but the time is signed, and of s there are two.
    @Test(arguments: StoreKind.allCases)
    func eachROfAKeyOnce(_ kind: StoreKind) async throws {
        try await kind.withStores { stores in
            let now = stores.clock.now().seconds
            for (device, nonce, s, key, expected) in [
                ("d", 1, UInt8(1), "k", SignedUse.Outcome.fresh), ("d", 2, 1, "k", .replay), ("d", 3, 2, "k", .replay),
                ("d", 4, 1, "l", .fresh),
            ] {
                let use = try Self.use(at: now, device: device, nonce: Self.nonce(nonce), key: key, r: 7, s: s)
                #expect(try await stores.remember(use) == expected)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func oneOf64IsFresh(_ kind: StoreKind) async throws {
        try await kind.withStores { stores in
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
    }

    @Test(arguments: StoreKind.allCases)
    func aDeviceHasItsLimit(_ kind: StoreKind) async throws {
        try await kind.withStores(replayLimits: .init(perDevice: 3)) { stores in
            for nonce in 1...3 {
                let outcome = try await stores.remember(Self.use(stores, nonce: nonce))
                #expect(outcome == .fresh)
            }
            #expect(try await stores.remember(Self.use(stores, nonce: 4)) == .tooMany)
            #expect(try await stores.remember(Self.use(stores, nonce: 3)) == .replay)
            #expect(try await stores.remember(Self.use(stores, device: "e", nonce: 4, key: "l")) == .fresh)
        }
    }
}

/// What only the store in memory has: a clock of its own, and a life before this one.
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

    /// Two lives of one authority, and what its clock did between them.
    private static func nextLife(
        ahead: [Int64] = [0], between: (FakeClock) -> Void = { _ in },
        _ body: (MemoryReplayStore, FakeClock, [SignedUse]) async throws -> Void
    ) async throws {
        let folder = try TestFolder()
        let clock = FakeClock()
        var uses: [SignedUse] = []
        for life in 1...2 {
            let store = try SQLiteStore(in: AuthorityFolder(folder.path), clock: clock)
            let replays = try await MemoryReplayStore(clock: store.clock, horizon: store)
            if life == 2 {
                try await body(replays, clock, uses)
            } else {
                for (index, ahead) in ahead.enumerated() {
                    let seconds = clock.now().seconds + ahead
                    let use = try ReplayStoreTests.use(
                        at: seconds, device: "\(index)", nonce: ReplayStoreTests.nonce(index), r: index)
                    #expect(try await replays.remember(use) == .fresh)
                    uses.append(use)
                }
            }
            await store.close()
            between(clock)
        }
    }

    @Test func whatWasAcceptedBeforeIsRefused() async throws {
        try await Self.nextLife(ahead: [-300, -1, 0, 1, 2, 3, 299, 300]) { replays, clock, uses in
            for use in uses { #expect(try await replays.remember(use) == .mayBeForgotten) }
            // Who was ahead waits until his clock has passed; the others do not wait for him.
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

    /// A machine without a clock of its own wakes up in the past, and only later learns the time.
    @Test func aClockThatIsBehindAfterAStartHidesNothing() async throws {
        try await Self.nextLife(ahead: [0]) { clock in
            clock.reboot()
            clock.step(-86_400_000)
        } _: { replays, clock, uses in
            clock.step(86_400_000)
            let outcome = try await replays.remember(uses[0])
            #expect(outcome == .mayBeForgotten)
        }
    }

    @Test func theFirstLifeRefusesNothing() async throws {
        try await StoreKind.sqlite.withStores { stores in
            let use = try ReplayStoreTests.use(stores, nonce: 1, ahead: -300)
            #expect(try await stores.remember(use) == .fresh)
        }
    }

    /// A request is not accepted when the next life would not know of it.
    @Test func withoutAHorizonNothingIsAccepted() async throws {
        let folder = try TestFolder()
        let clock = FakeClock()
        let store = try SQLiteStore(in: AuthorityFolder(folder.path), clock: clock)
        let replays = try await MemoryReplayStore(clock: store.clock, horizon: store)
        await store.close()
        for ahead: Int64 in [0, 300] {
            let use = try ReplayStoreTests.use(at: clock.now().seconds + ahead, nonce: ReplayStoreTests.nonce(1), r: 1)
            #expect(await errorThrown { try await replays.remember(use) }?.code == .storeClosed)
        }
    }
}
