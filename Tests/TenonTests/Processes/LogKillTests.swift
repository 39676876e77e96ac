// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Tenon
import Testing

/// kill -9 before each system call that changes the disk, in each operation of a KERI identifier, whatever happens to
/// its message: no number has two events, and no event that left the device names a key that is gone
/// (decision: one-message, last-number, key-roles).
@Suite(.timeLimit(.minutes(5))) struct LogKillTests {
    private func start(_ operation: KillTests.Operation) throws -> LogWorld {
        let world = try LogWorld()
        guard operation != .register else { return world }
        try world.expect(["register": "ok", "rotate": "ok"], "start")
        guard operation == .maintain else { return world }
        // A rotation that the service took, and whose answer was lost.
        world.service.change { $0.fates = [.arrives] + Array(repeating: .answerLost, count: 5) }
        try world.expect(["rotate": "\(TenonError.Code.httpNoAnswer)"], "start")
        world.service.change { $0.fates = [] }
        return world
    }

    /// - Returns: whether a message had met its fate when the process died; nil if it did not die.
    private func cut(
        _ world: LogWorld, _ operation: KillTests.Operation, _ fate: KillTests.Fate, at number: Int
    ) throws -> Bool? {
        let exchanges = world.service.exchanges
        // A rotation asks for the log first.
        let fates = (0..<6).map { _ in fate.fate }
        world.service.change { $0.fates = operation == .rotate ? [.arrives] + fates : fates }
        let end = try world.perform(operation.rawValue, dyingAt: number)
        world.service.change { $0.fates = [] }
        world.service.deliverLate()
        return end == nil ? world.service.exchanges - exchanges > (operation == .rotate ? 1 : 0) : nil
    }

    @Test(arguments: KillTests.Operation.allCases, KillTests.Fate.allCases)
    func noNumberHasTwoEvents(_ operation: KillTests.Operation, _ fate: KillTests.Fate) async throws {
        guard fate == .arrives || operation != .reset else { return }
        let before = try start(operation)
        var (number, cuts, events, doubles) = (0, 0, 0, 0)
        repeat {
            number += 1
            let world = try before.copy()
            let place = "\(operation) that \(fate.rawValue), call \(number)"
            guard let isMet = try cut(world, operation, fate, at: number) else { break }
            // Before that, the world is the one of messages that arrive.
            guard isMet || fate == .arrives else { continue }
            cuts += 1
            // The process that recovers dies, too, somewhere; the next one does not.
            if number % 3 == 0 { _ = try cut(world, operation, .arrives, at: 1 + number * 5 % 23) }
            try await world.expectWhole(place)
            if operation == .reset { try world.expect(["reset": "ok"], place) }
            try world.expect(
                ["register": "ok", "data": "ok", "rotate": "ok", "maintain": "ok", "rotate": "ok", "data": "ok"], place)
            try await world.expectWhole(place)
            try world.expectAgreement(place)
            #expect(world.service.logs.count == (operation == .reset ? 2 : 1), "\(place)")
            #expect(world.service.refused == 0, "\(place)")
            events += world.service.events
            doubles += world.service.numbersWithTwoEvents
        } while true
        #expect(number > 10 && cuts > 0)
        print(
            "kill -9: auths \(operation), a request that \(fate.rawValue): \(cuts) cuts, \(events) events, "
                + "\(doubles) numbers with two events")
    }

    /// A record from a backup, at an honest service: nothing is signed with it.
    @Test(arguments: [false, true])
    func aRestoredRecordSignsNoEvent(_ isLogRestored: Bool) async throws {
        let world = try LogWorld()
        try world.expect(["register": "ok", "rotate": "ok"], "start")
        var backup = try world.files()
        try world.expect(["rotate": "ok", "rotate": "ok"], "later")
        let newer = try world.files()
        if !isLogRestored { backup[world.store.name.log] = nil }
        try world.take(backup)
        let sent = world.service.events
        let refusal = isLogRestored ? TenonError.Code.keyInvalidated : .stateUnresolved
        try world.expect(["rotate": "\(refusal)", "maintain": "ok"], "restored")
        #expect(world.service.events == sent && world.service.numbersWithTwoEvents == 0)
        #expect(world.store.read().value?.cause == (isLogRestored ? .superseded : nil))
        // The newer state is back: it continues.
        try world.take(newer)
        try world.expect(["rotate": "ok", "data": "ok"], "the newer state")
        try await world.expectWhole("the newer state")
        try world.expectAgreement("the newer state")
    }

    /// A record from a backup that was made while an event was under way sends that very event again.
    @Test func aRestoredJournalSendsWhatItHolds() async throws {
        let world = try LogWorld()
        try world.expect(["register": "ok"], "start")
        world.service.change { $0.fates = [.arrives] + Array(repeating: .late, count: 5) }
        try world.expect(["rotate": "\(TenonError.Code.httpNoAnswer)"], "start")
        world.service.change { $0.fates = [] }
        let backup = try world.files()
        try world.expect(["maintain": "ok", "rotate": "ok"], "later")
        try world.take(backup)
        world.service.deliverLate()
        try world.expect(["rotate": "ok", "rotate": "\(TenonError.Code.keyInvalidated)"], "restored")
        #expect(world.service.numbersWithTwoEvents == 0)
    }

    /// Independent processes on one identifier; two of the eight die repeatedly.
    @Test func eightProcessesOnOneLog() async throws {
        let world = try LogWorld()
        try world.expect(["register": "ok"], "start")
        let commands = ["rotate", "data", "maintain", "rotate", "register", "data"]
        let counts = try await world.race(dyingWithin: 200) { process, turn in
            if (process + turn).isMultiple(of: 4) { world.service.change { $0.fates.append(.late) } }
            return commands[(process + turn) % commands.count]
        }
        // What was meant for commands that sent nothing.
        world.service.change { $0.fates = [] }
        world.service.deliverLate()
        let allowed: Set<String> = [
            "ok", "died", "\(TenonError.Code.httpNoAnswer)", "\(TenonError.Code.outcomeUnknown)",
        ]
        #expect(Set(counts.keys).isSubset(of: allowed), "\(counts)")
        try world.expect(["register": "ok", "maintain": "ok", "rotate": "ok", "data": "ok"], "the end")
        try await world.expectWhole("the end")
        try world.expectAgreement("the end")
        let log = world.service.logs.values.first?.count ?? 0
        #expect(log > 3 && world.service.logs.count == 1)
        let words = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let doubles = world.service.numbersWithTwoEvents
        print("8 processes on one log: \(words.joined(separator: ", ")); \(log) events, \(doubles) numbers with two")
    }
}
