// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

/// All that may happen to rotations: what is sent, lost, held back, sent twice and answered, when the device dies and
/// what it asks. The steps are those of the record, and the service is one that takes a key from the key before it.
@Suite struct RotationSearchTests {
    struct Message: Hashable, Comparable {
        let signer: Int
        let offered: Int

        static func < (left: Self, right: Self) -> Bool { (left.signer, left.offered) < (right.signer, right.offered) }
    }

    /// What a design does when the service is seen to hold the old key.
    enum Rule: CaseIterable {
        /// The key that was offered stays, and is offered again (security.md D1).
        case keeps
        /// It is dropped, as nobody holds it: what the mobile SDKs do.
        case drops
    }

    struct World {
        var record: IdentityRecord
        /// The message of which the device awaits the answer, and whether one before it is open.
        var awaited: (message: Message, isSecond: Bool)?
        var answer: Bool?
        var flying: Set<Message> = []
        /// Which key the service holds, and whether it says yes when that is offered once more.
        var held = 1
        let isTolerant: Bool
        /// Keys that a weaker design let go.
        var dropped: Set<Int> = []

        /// Two worlds of one name go on in the same way.
        var name: String {
            let keys = record.keys.map { "\($0.generation)\($0.role)\($0.isOffered)" }
            let journal = record.journal.map { "\($0.phase)\($0.newGeneration)" } ?? "-"
            return [
                record.state.rawValue, "\(keys)", journal, "\(record.lastGeneration)", "\(String(describing: awaited))",
                "\(String(describing: answer))", "\(flying.sorted())", "\(held)", "\(dropped.sorted())",
            ].joined(separator: " ")
        }

        /// Whether the device still has the key that the service holds, and where it finds it when it asks.
        var isLost: Bool {
            let known = [record.key(.current), record.key(.next)].compactMap { $0?.generation }
            return !known.contains(held) || dropped.contains(held)
        }
    }

    private static let lastGeneration = 7

    @Test(arguments: [true, false])
    func noWayLosesTheIdentity(_ isTolerant: Bool) throws {
        let (states, lost) = try search(.keeps, isTolerant)
        print("rotation, a service that \(isTolerant ? "takes a key twice" : "takes a key once"): \(states) states")
        #expect(lost == nil)
        #expect(states > 500)
    }

    /// The search finds the loss of the weaker design: it would find ours.
    @Test func aKeyThatIsDroppedLosesIt() throws {
        for isTolerant in [true, false] { #expect(try search(.drops, isTolerant).lost != nil) }
    }

    private func search(_ rule: Rule, _ isTolerant: Bool) throws -> (states: Int, lost: String?) {
        let first = World(record: try RecordShape.registered.record(), isTolerant: isTolerant)
        var (seen, waiting) = (Set([first.name]), [first])
        while let world = waiting.popLast() {
            for next in try successors(of: world, rule) where seen.insert(next.name).inserted {
                if next.isLost { return (seen.count, next.name) }
                try checkRecovery(next)
                waiting.append(next)
            }
        }
        return (seen.count, nil)
    }

    /// Whatever has happened, a device that starts and asks signs with the key that the service holds.
    private func checkRecovery(_ world: World) throws {
        let recovery = try Recovery(of: world.record, intact: [], present: [])
        var record = recovery.record
        #expect(record.state == .registered)
        if record.key(.current)?.generation != world.held { try record.promote(at: 1) }
        #expect(record.key(.current)?.generation == world.held)
    }

    private func successors(of world: World, _ rule: Rule) throws -> [World] {
        var all = try network(world)
        // The process dies.
        all.append(try atRest(world))
        if let answer = world.answer {
            all.append(try answered(world, answer))
        } else if world.awaited == nil {
            all += try sent(world)
            all += try asked(world, rule)
        }
        return all
    }

    /// A message comes to the service, now or later, once or twice, or never; its answer comes back or does not.
    private func network(_ world: World) throws -> [World] {
        world.flying.flatMap { message in
            var lost = world
            lost.flying.remove(message)
            var all = [lost]
            for stays in [true, false] {
                var delivered = stays ? world : lost
                let isTaken = message.signer == world.held || world.isTolerant && message.offered == world.held
                if message.signer == world.held { delivered.held = message.offered }
                all.append(delivered)
                if world.awaited?.message == message, world.answer == nil {
                    delivered.answer = isTaken
                    all.append(delivered)
                }
            }
            return all
        }
    }

    private func atRest(_ world: World) throws -> World {
        var world = world
        world.record = try Recovery(of: world.record, intact: [], present: []).record
        (world.awaited, world.answer) = (nil, nil)
        return world
    }

    private func sent(_ world: World) throws -> [World] {
        var world = world
        guard let current = world.record.key(.current) else { return [] }
        if world.record.key(.next) == nil {
            let generation = world.record.lastGeneration + 1
            guard generation <= Self.lastGeneration else { return [] }
            try world.record.add(
                RecordShape.facts(UInt8(generation)), as: .next, generation: generation, isHardware: true)
        }
        guard let next = world.record.key(.next) else { return [] }
        let message = Message(signer: current.generation, offered: next.generation)
        let isSecond = world.record.journal != nil
        try world.record.begin(.rotate(from: message.signer, to: message.offered, message: [1]))
        try world.record.move(to: .registering)
        let prepared = try atRest(world)
        try world.record.markSent()
        world.flying.insert(message)
        world.awaited = (message, isSecond)
        return [prepared, world]
    }

    private func answered(_ world: World, _ isTaken: Bool) throws -> World {
        var world = world
        let isSecond = world.awaited?.isSecond == true
        (world.awaited, world.answer) = (nil, nil)
        if isTaken {
            try world.record.promote(at: 1)
            try world.record.move(to: .registered)
            return world
        }
        try world.record.move(to: .registered)
        // Only the first message with a key can be refused for good.
        if !isSecond { world.record.settle() }
        return world
    }

    /// The service's own endpoint says which key it holds.
    private func asked(_ world: World, _ rule: Rule) throws -> [World] {
        var world = world
        if let next = world.record.key(.next), next.isOffered, next.generation == world.held {
            try world.record.promote(at: 1)
        } else {
            world.record.retirePrevious()
            if rule == .drops, let next = world.record.key(.next) { world.dropped.insert(next.generation) }
        }
        return [world]
    }
}
