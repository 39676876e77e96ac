// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Tenon
import Testing

/// kill -9 before each system call that changes the disk, in each operation of a device, whatever happens to its
/// message (W2, W10, W12).
@Suite struct KillTests {
    enum Operation: String, CaseIterable {
        case register, rotate, maintain, reset
    }

    enum Fate: String, CaseIterable {
        case arrives
        case requestLost = "is lost"
        case answerLost = "commits, and nobody hears"
        case late = "commits after the end"

        var fate: ScriptedService.Fate {
            switch self {
            case .arrives: .arrives
            case .requestLost: .requestLost
            case .answerLost: .answerLost
            case .late: .late
            }
        }
    }

    private func start(_ operation: Operation) throws -> DeviceWorld {
        let world = try DeviceWorld()
        switch operation {
        case .register: break
        case .rotate, .reset: try world.expect(["register": "ok"], "start")
        case .maintain:
            // A rotation that the service accepted, and whose answer was lost.
            try world.expect(["register": "ok"], "start")
            world.service.change { $0.fates = Array(repeating: .answerLost, count: 5) }
            try world.expect(["rotate": "\(TenonError.Code.httpNoAnswer)"], "start")
            world.service.change { $0.fates = [] }
        }
        return world
    }

    /// - Parameter number: the number of the deadly call.
    /// - Returns: whether a message had met its fate when the process died; nil if it did not die.
    private func cut(_ world: DeviceWorld, _ operation: Operation, _ fate: Fate, at number: Int) throws -> Bool? {
        let seen = world.service.seen.count
        let fates = (0..<6).flatMap { _ in operation == .register ? [.arrives, fate.fate] : [fate.fate] }
        world.service.change { $0.fates = fates }
        let end = try world.perform(operation.rawValue, dyingAt: number)
        world.service.change { $0.fates = [] }
        world.service.deliverLate()
        return end == nil ? world.service.seen.count - seen > (operation == .register ? 1 : 0) : nil
    }

    @Test(arguments: Operation.allCases, Fate.allCases)
    func afterEachCutTheDeviceKnowsWhereItIs(_ operation: Operation, _ fate: Fate) async throws {
        // A reset sends nothing, and a question commits nothing.
        guard fate == .arrives || [.register, .rotate].contains(operation) else { return }
        let before = try start(operation)
        var (number, cuts) = (0, 0)
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
            try expectKnown(world, operation, place)
            try await expectGoodEnd(world, operation, place)
        } while true
        #expect(number > 10 && cuts > 0)
        print("kill -9: \(operation), a request that \(fate.rawValue): \(cuts) cuts")
    }

    /// The device signs with the key that the service holds, or is cleanly unregistered, or knows that it does
    /// not know.
    private func expectKnown(_ world: DeviceWorld, _ operation: Operation, _ place: String) throws {
        let end = try world.perform("try", place)
        let record = world.store.read().value
        switch end {
        case "ok": break
        case "refused": #expect(record?.reason == .rotationPending, "\(place)")
        case "\(TenonError.Code.notRegistered)":
            let isAskedFor = record?.journal?.operation == .register && record?.journal?.phase == .sent
            #expect(
                operation == .reset || operation == .register && (world.service.devices.isEmpty || isAskedFor),
                "\(place): \(world.service.devices.count)")
        default: Issue.record("\(place): \(end ?? "died")")
        }
    }

    /// Repeating the operation succeeds, and there is one device. The next operation removes unused files.
    private func expectGoodEnd(_ world: DeviceWorld, _ operation: Operation, _ place: String) async throws {
        let steps: KeyValuePairs =
            operation == .reset
            ? ["reset": "ok", "register": "ok", "try": "ok", "maintain": "ok", "register": "ok"]
            : ["register": "ok", operation.rawValue: "ok", "try": "ok", "maintain": "ok", "register": "ok"]
        try world.expect(steps, place)
        let record = try #require(world.store.read().value, "\(place)")
        #expect(record.state == .registered && record.journal == nil && record.keys.count == 1, "\(place)")
        #expect(world.service.devices.count == (operation == .reset ? 2 : 1), "\(place)")
        try await world.expectTidy(place)
    }
}
