// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import Testing

/// A start with a right wall clock after one with a wrong clock.
@Suite struct KeptTimeTests {
    static let (hour, year): (Int64, Int64) = (3_600_000, 365 * 86_400_000)

    /// Opens the store; requests arrive three seconds later.
    static func life(
        _ folder: TestFolder, _ clock: FakeClock, _ body: (SQLiteStore, MemoryReplayStore) async throws -> Void
    ) async throws {
        try await SQLiteFileTests.withStore(folder, clock: clock) { store in
            let replays = try await MemoryReplayStore(clock: store.clock, horizon: store)
            clock.advance(3_000)
            try await body(store, replays)
        }
        clock.advance(1_000)
    }

    static func use(_ clock: FakeClock, _ number: Int, device: String = "d", ahead: Int64 = 0) throws -> SignedUse {
        try ReplayStoreTests.use(
            at: clock.now().seconds + ahead, device: device, nonce: ReplayStoreTests.nonce(number), r: number)
    }

    /// The store accepts requests again at once, and refuses requests that it accepted before by either clock.
    @Test func yearsAheadDoNotStay() async throws {
        let (folder, clock) = (try TestFolder(), FakeClock())
        let right = try [Self.use(clock, 1, ahead: 3), Self.use(clock, 2, ahead: 200)]
        try await Self.life(folder, clock) { (_, replays) async throws in
            for use in right { #expect(try await replays.remember(use) == .fresh) }
        }
        clock.step(10 * Self.year)
        let ahead = try [Self.use(clock, 3, ahead: 3), Self.use(clock, 4, ahead: 250)]
        try await Self.life(folder, clock) { (_, replays) async throws in
            for use in ahead { #expect(try await replays.remember(use) == .fresh) }
        }
        clock.step(-10 * Self.year)
        for life in 0..<2 {
            try await Self.life(folder, clock) { (store, replays) async throws in
                #expect(store.clock.now().wall == clock.now().wall && store.clock.stepBack == 0)
                #expect(try await replays.remember(Self.use(clock, 10 + life, device: "e")) == .fresh)
                for use in right + ahead { #expect(try await replays.remember(use) == .mayBeForgotten) }
            }
        }
        clock.advance(301_000)
        try await Self.life(folder, clock) { (_, replays) async throws in
            #expect(try await replays.remember(Self.use(clock, 20)) == .fresh)
        }
        // When that time comes, requests that were accepted in it are refused.
        clock.advance(10 * Self.year - 400_000)
        try await Self.life(folder, clock) { (_, replays) async throws in
            for use in ahead { #expect(try await replays.remember(use) == .mayBeForgotten) }
        }
        clock.advance(2 * Self.hour)
        try await Self.life(folder, clock) { (_, replays) async throws in
            #expect(try await replays.remember(Self.use(clock, 30)) == .fresh)
        }
    }

    /// An operator who says that the clock is right says that it was wrong while it was ahead.
    @Test func aResetForgetsWhatWasAhead() async throws {
        for isReset in [false, true] {
            let (folder, clock) = (try TestFolder(), FakeClock())
            clock.step(10 * Self.year)
            try await Self.life(folder, clock) { (_, replays) async throws in
                #expect(try await replays.remember(Self.use(clock, 1)) == .fresh)
            }
            clock.step(-10 * Self.year)
            try await Self.life(folder, clock) { (_, _) async throws in }
            if isReset { _ = try KeptTime.reset(in: AuthorityFolder(folder.path), at: clock.now()) }
            clock.advance(10 * Self.year - 60_000)
            try await Self.life(folder, clock) { (_, replays) async throws in
                #expect(try await replays.remember(Self.use(clock, 2)) == (isReset ? .fresh : .mayBeForgotten))
            }
        }
    }

    @Test func aClockThatLostItsTimeIsNotBelieved() async throws {
        let (folder, clock) = (try TestFolder(), FakeClock())
        try await Self.life(folder, clock) { (_, _) async throws in }
        let seen = clock.now().wall
        clock.step(1_000_000 - seen)
        try await Self.life(folder, clock) { (store, _) async throws in
            #expect(seen - store.clock.now().wall < 5_000)
            #expect(store.clock.stepBack > Self.year)
        }
    }
}
