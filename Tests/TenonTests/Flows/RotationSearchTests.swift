// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Tenon
import Testing

/// Everything that may happen to rotations: messages that are sent, lost, held back, misreported and answered, the
/// moment when the device dies, and its next step. Each step is the device's own code.
@Suite struct RotationSearchTests {
    static let manners: [RotationManner] =
        RotationTests.settlements.map { RotationManner(settlements: $0, isFull: true) }
        // Whether the service rotates a key to itself matters only if the device asks in that way.
        + [(400, false), (409, true)].map {
            RotationManner(settlements: [.resend, .selfRotation], selfRotation: $0.0, isUnseen: $0.1)
        }
        + zip(RotationTests.settlements, [-300, 300]).map { RotationManner(settlements: $0, offset: $1) }

    /// The designs that lose the identity, and where.
    static let weaker: [RotationManner] =
        RotationTests.settlements.map { RotationManner(settlements: $0, rule: .drops) }
        + [400, 500].map {
            RotationManner(settlements: [.resend, .selfRotation], selfRotation: $0, rule: .holdsOn)
        }
        + RotationTests.settlements.map { RotationManner(settlements: $0, offset: 300, rule: .comparesClocks) }

    private enum Event: CaseIterable {
        case rotate
        /// An application's service refuses a signature: the service itself is asked, now or much later.
        case refused, refusedLater
        case lateArrives, lateIsLost
    }

    private struct Found {
        var states = 0
        var paths = 0
        /// The first world in which the identity is lost.
        var lost: String?
    }

    private static let lastGeneration = 3

    @Test(arguments: manners)
    func noWayLosesTheIdentity(_ manner: RotationManner) async throws {
        let found = try await search(manner)
        let loss = found.lost ?? "no loss"
        print("rotation, \(manner): \(found.states) states, \(found.paths) paths between them, \(loss)")
        #expect(found.lost == nil)
        #expect(found.states > (manner.isFull ? 30 : 20))
    }

    /// The search finds the loss of each weaker design, so it would find ours.
    @Test(arguments: weaker)
    func aWeakerDesignLosesIt(_ manner: RotationManner) async throws {
        let found = try await search(manner)
        print("a design that \(manner.rule), \(manner): lost after \(found.paths) paths")
        #expect(found.lost != nil)
    }

    private func search(_ manner: RotationManner) async throws -> Found {
        let stage = try RotationStage(manner)
        let first = try await stage.first()
        var found = Found()
        var (seen, waiting) = (Set([try stage.name(of: first)]), [first])
        while let world = waiting.popLast() {
            found.states += 1
            for event in Event.allCases {
                let choices = Choices()
                repeat {
                    guard let worlds = try await after(event, world, stage, choices, manner) else { break }
                    for next in worlds {
                        found.paths += 1
                        let name = try stage.name(of: next)
                        guard seen.insert(name).inserted else { continue }
                        guard try await isKept(next, stage) else {
                            found.lost = name
                            return found
                        }
                        waiting.append(next)
                    }
                } while choices.next()
            }
        }
        return found
    }

    /// - Returns: the worlds that result, by how the call ends or where the device dies; nil if that cannot happen
    ///   here.
    private func after(
        _ event: Event, _ world: RotationWorld, _ stage: RotationStage, _ choices: Choices, _ manner: RotationManner
    ) async throws -> [RotationWorld]? {
        var (next, deaths) = (world, [RotationWorld]())
        switch event {
        case .rotate:
            guard let record = world.record, record.key(.next) != nil || record.lastGeneration < Self.lastGeneration
            else { return nil }
            deaths = try await stage.run(&next, choices) { identity, _ in try await identity.rotate() }
        case .refused, .refusedLater:
            guard event == .refused || world.record?.refusedAt != nil else { return nil }
            deaths = try await stage.run(&next, choices, after: event == .refused ? 0 : 2) { identity, _ in
                let signed = try await identity.sign("POST", path: "/v1/x")
                _ = await identity.received(401, "BAD_SIGNATURE", for: signed)
            }
            if manner.rule == .drops { drop(&next, stage) }
        case .lateArrives:
            guard !world.service.late.isEmpty else { return nil }
            deaths = try await stage.run(&next, choices) { _, network in network.deliver() }
        case .lateIsLost:
            guard !world.service.late.isEmpty else { return nil }
            next.service.late = []
        }
        return deaths + [next]
    }

    private func drop(_ world: inout RotationWorld, _ stage: RotationStage) {
        guard let key = world.record?.key(.next), key.isOffered, key.generation != stage.held(world) else {
            return
        }
        world.lost.insert(key.facts.pem)
    }

    /// Whether a device that starts now, with a working network, comes to sign with the key that the service holds.
    private func isKept(_ world: RotationWorld, _ stage: RotationStage) async throws -> Bool {
        let held = stage.held(world)
        guard world.record?.keys.contains(where: { $0.generation == held }) == true else { return false }
        var (world, isTaken) = (world, false)
        try await stage.run(&world, nil) { identity, _ in try await identity.maintain() }
        try await stage.run(&world, nil) { identity, network in
            let signed = try await identity.sign("POST", path: "/v1/x", body: [1])
            isTaken = network.service.answer(signed.asSent).status == 200
        }
        return isTaken && world.service.devices.count == 1
    }
}
