// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonSynheart
import Testing

/// Rotations at a running authority by a device whose clock is not its, and whose answers are lost.
@Suite(.timeLimit(.minutes(2))) struct ServedRotationTests {
    private var world: ServedWorld { .current }

    /// The app in which a device of this dialect may rotate: `docs` has no place for the new key's proof.
    private func app(_ dialect: Dialect) -> String { dialect == .tenon ? "demo" : "marked" }

    /// The milliseconds by which the device's clock is behind.
    static let offsets: [Int64] =
        [-297, -200, -100, -30, -5, -2, -1, 0, 1, 2, 5, 30, 100, 200, 297].map { $0 * 1000 }
        + [-1500, -999, -500, -1, 1, 250, 500, 999, 1500]

    /// After each rotation, the device signs with the key that the authority holds.
    @Test(.world, arguments: [Dialect.docs, .tenon])
    func aClockThatIsAnother(_ dialect: Dialect) async throws {
        let identity = try world.hurried(dialect, app: app(dialect))
        try await identity.register()
        var refused: [Int64] = []
        for offset in Self.offsets {
            world.wire.setClock(by: .milliseconds(-offset))
            try await identity.rotate()
            let signed = try await world.signed(world.hurried(dialect, app: app(dialect)))
            if try await world.send(signed).status != 200 { refused.append(offset) }
        }
        #expect(refused == [], "refused after the rotation, by the device's clock so many ms behind")
    }

    /// The device can ask only rotate-key, and the service rotates no key to itself.
    @Test(.world, arguments: [400, 409, 500])
    func aServiceThatRotatesNoKeyToItself(_ status: Int) async throws {
        let identity = try world.hurried(.docs, app: "marked") { $0.retry.tries = 1 }
        try await identity.register()
        world.wire.refuseSelfRotation(status)
        world.wire.lose("/rotate-key")
        let error = await errorAwaited { try await identity.rotate() }
        #expect(error?.code.category == .unknown)
        try await world.expectResent(identity)
        try await world.expectSigns(world.hurried(.docs, app: "marked"))
    }
}
