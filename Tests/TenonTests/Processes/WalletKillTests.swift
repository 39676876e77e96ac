// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Glibc
import Tenon
import Testing

/// kill -9 before the system calls that change the disk, in each operation of an IT-Wallet instance, whatever happens
/// to its message: no instance loses its key, no tag has two keys, and a reset leaves nothing
/// (decision: removed-keys, tag-is-id).
///
/// `TENON_TEST_CUTS=1` cuts at each call; otherwise, of an operation with many, at one in three, which are others for
/// each fate.
@Suite(.timeLimit(.minutes(10))) struct WalletKillTests {
    enum Operation: String, CaseIterable {
        case initialization, use, renewal, reset

        var command: String {
            switch self {
            case .initialization: "register"
            case .use: "attest"
            case .renewal: "maintain"
            case .reset: "reset"
            }
        }
    }

    static let distance = getenv("TENON_TEST_CUTS").flatMap { Int(String(cString: $0)) } ?? 3

    private func start(_ operation: Operation) throws -> WalletWorld {
        let world = try WalletWorld()
        switch operation {
        case .initialization: break
        case .use: try world.expect(["register": "ok"], "start")
        case .renewal:
            world.service.change { $0.isDueAtOnce = true }
            try world.expect(["register": "ok", "attest": "ok"], "start")
        case .reset:
            // A key that was never sent goes to the attic.
            world.service.change { $0.refusesNonces = true }
            try world.expect(["register": "\(TenonError.Code.serviceRefused)"], "start")
            world.service.change { $0.refusesNonces = false }
            try world.expect(["register": "ok", "attest": "ok"], "start")
        }
        return world
    }

    /// - Returns: whether the process died at the call of this number.
    private func cut(
        _ world: WalletWorld, _ operation: Operation, _ fate: KillTests.Fate, at number: Int
    ) throws -> Bool {
        world.service.change { $0.fate = fate.fate }
        let end = try world.perform(operation.command, dyingAt: number)
        world.service.change { $0.fate = .arrives }
        world.service.deliverLate()
        return end == nil
    }

    @Test("WP_132 WP_135 WP_139 WP_149: kill -9", arguments: Operation.allCases, KillTests.Fate.allCases)
    func noInstanceIsLost(_ operation: Operation, _ fate: KillTests.Fate) async throws {
        guard fate == .arrives || operation != .reset else { return }
        let before = try start(operation)
        let secrets = try before.secrets()
        #expect(secrets.count > 1 || operation == .initialization)
        let distance = [.use, .renewal].contains(operation) ? 1 : Self.distance
        let first = (KillTests.Fate.allCases.firstIndex(of: fate) ?? 0) % distance
        var (number, cuts, lost, doubles) = (1 + first, 0, 0, 0)
        while case let world = try before.copy(), try cut(world, operation, fate, at: number) {
            let place = "\(operation) that \(fate.rawValue), call \(number)"
            // Of some cuts the process that recovers dies, too.
            if cuts % 3 == 1 { _ = try cut(world, operation, .arrives, at: 1 + number * 5 % 23) }
            if operation != .reset { lost += try await world.lostInstances() }
            try expectKnown(world, operation, place)
            try expectGoodEnd(world, operation, secrets, place)
            doubles += world.service.tagsWithTwoKeys
            cuts += 1
            number += distance
        }
        #expect(cuts > 1 && lost == 0 && doubles == 0)
        print(
            "kill -9: it-wallet \(operation), a request that \(fate.rawValue): \(cuts) cuts, at one call in \(distance), "
                + "\(lost) identities lost, \(doubles) tags with two keys")
    }

    /// The instance is usable, or is cleanly not initialized, or its record says that a key was sent.
    private func expectKnown(_ world: WalletWorld, _ operation: Operation, _ place: String) throws {
        let end = try world.perform("attest", place)
        let record = world.store.read().value
        switch end {
        case "ok": #expect(record?.deviceID.flatMap { world.service.instances[$0] } != nil, "\(place)")
        case "\(TenonError.Code.notRegistered)":
            let isSent = record?.journal?.operation == .register && record?.journal?.phase == .sent
            #expect(
                operation == .reset || operation == .initialization && (world.service.instances.isEmpty || isSent),
                "\(place)")
        default: Issue.record("\(place): \(end ?? "died")")
        }
    }

    private func expectGoodEnd(
        _ world: WalletWorld, _ operation: Operation, _ secrets: [String], _ place: String
    ) throws {
        if operation == .reset {
            try world.expect(["reset": "ok"], place)
            #expect(try world.files(with: secrets).isEmpty, "\(place)")
            #expect(try world.files().isEmpty, "\(place)")
        }
        try world.expect(
            [
                "register": "ok", "attest": "ok", "maintain": "ok", "kept": "ok", "status": "active", "register": "ok",
            ], place)
        try world.expectAgreement(place, instances: operation == .reset ? 2 : 1)
    }

    /// The search for what a reset has to remove finds it where it is.
    @Test func aSecretIsFoundInEachForm() throws {
        let world = try start(.reset)
        let secrets = try world.secrets()
        let found = try world.files(with: secrets)
        #expect(found.contains { $0.hasPrefix("attic/") } && found.contains { $0.hasSuffix(".pem") })
        for pad in 0..<3 {
            let text = TextEncoding.base64.encode(Array(repeating: 1, count: pad) + Array((secrets.first ?? "").utf8))
            try world.temporary.put("before \(text) behind", as: "state/form\(pad)")
            #expect(try world.files(with: secrets).contains("form\(pad)"))
        }
    }

    /// Independent processes that know nothing of each other, from before the initialization; two of the eight die
    /// repeatedly. Some answers never come.
    @Test("WP_132: eight processes are one instance") func eightProcesses() async throws {
        let world = try WalletWorld()
        let counts = try await world.race(dyingWithin: 120) { _, _ in
            if Int.random(in: 0..<4) == 0 { world.service.change { $0.fates.append(.late) } }
            return ["register", "register", "attest", "maintain"].randomElement() ?? ""
        }
        // From here on the network is whole.
        world.service.change { $0.fates = [] }
        world.service.deliverLate()
        let allowed: Set<String> = [
            "ok", "died", "\(TenonError.Code.httpNoAnswer)", "\(TenonError.Code.outcomeUnknown)",
            "\(TenonError.Code.notRegistered)",
        ]
        #expect(Set(counts.keys).isSubset(of: allowed), "\(counts)")
        try world.expect(["register": "ok", "attest": "ok", "maintain": "ok", "kept": "ok"], "the end")
        try world.expectAgreement("the end")
        #expect(try await world.lostInstances() == 0)
        let words = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        print("8 processes, \(world.service.instances.count) instance: \(words.joined(separator: ", "))")
    }
}
