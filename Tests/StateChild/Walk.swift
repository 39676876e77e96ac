// SPDX-License-Identifier: Apache-2.0
import Tenon

/// The operations of an identity as bare steps, with a write after each, so that a process can be killed between any
/// two. It has no retries: it does one operation as far as it comes.
struct Walk {
    enum Operation: String {
        case register, rotate, reset
    }

    private let store: RecordStore
    private let service: ScriptedService
    private let held: FileLock.Held

    init(_ folder: StateFolder, _ service: ScriptedService) throws(TenonError) {
        let name = try IdentityName(profile: "synheart", baseURL: "https://auth.example/v1", appID: "app")
        store = RecordStore(name, in: folder)
        self.service = service
        held = try store.lock.acquire(within: .seconds(60))
    }

    func run(_ operation: Operation) throws(TenonError) {
        if case .absent = store.read() {
            let record = IdentityRecord(
                store.name, origin: "https://auth.example", dialect: "docs", alias: "a", deviceLocalID: Self.local)
            try store.create(record, held)
        }
        let recovery = try store.recover(held)
        switch operation {
        case .register: try register(recovery.record)
        case .rotate: try rotate(recovery)
        case .reset: try step { record throws(TenonError) in try record.reset(deviceLocalID: Self.local) }
        }
        _ = try store.recover(held)
    }

    private func register(_ record: IdentityRecord) throws(TenonError) {
        guard record.state == .unregistered else { return }
        try step { record throws(TenonError) in try record.move(to: .challengeReceived) }
        let key = try key(.current)
        try step { record throws(TenonError) in try record.move(to: .keyReady) }
        try step { record throws(TenonError) in
            try record.begin(.register(key.generation, message: [1]))
            try record.move(to: .registering)
        }
        try step { record throws(TenonError) in try record.markSent() }
        guard service.register(Self.text(key)) == true else {
            return try step { record throws(TenonError) in try record.move(to: .unregistered) }
        }
        try step { record throws(TenonError) in
            record.settle()
            record.deviceID = "dev"
            try record.move(to: .registered)
        }
    }

    private func rotate(_ recovery: Recovery) throws(TenonError) {
        guard recovery.record.state == .registered, let current = recovery.record.key(.current) else { return }
        if recovery.next == .settle, let next = recovery.record.key(.next), service.holds(Self.text(next)) == true {
            return try promote()
        }
        let next = try key(.next)
        try step { record throws(TenonError) in
            try record.begin(.rotate(from: current.generation, to: next.generation, message: [2]))
            try record.move(to: .registering)
        }
        try step { record throws(TenonError) in try record.markSent() }
        guard service.rotate(from: Self.text(current), to: Self.text(next)) == true else {
            return try step { record throws(TenonError) in try record.move(to: .registered) }
        }
        try promote()
    }

    private func promote() throws(TenonError) {
        try step { record throws(TenonError) in
            try record.promote(at: 1)
            if record.state == .registering { try record.move(to: .registered) }
        }
        try step { record throws(TenonError) in record.retirePrevious() }
    }

    /// The key of this role, made when there is none.
    private func key(_ role: KeyRole) throws(TenonError) -> IdentityKey {
        if case .found(let record) = store.read(), let key = record.key(role) { return key }
        let name = (0..<34).map { _ in UInt8.random(in: 0...255) }
        let facts = try KeyFacts(
            pem: Array("key \(TextEncoding.hex.encode(name))\n".utf8), name: name, parent: nil, witness: nil)
        let generation = try store.nextGeneration(held)
        try store.save(facts, as: .generation(generation), held)
        try step { record throws(TenonError) in
            try record.add(facts, as: role, generation: generation, isHardware: true)
        }
        return IdentityKey(generation: generation, role: role, facts: facts, isHardware: true, isOffered: false)
    }

    private func step(_ body: (inout IdentityRecord) throws(TenonError) -> Void) throws(TenonError) {
        try store.change(held, body)
    }

    private static let local = "0b9ea3c1-5a31-4c1f-9d0e-3f1e55f1a001"

    private static func text(_ key: IdentityKey) -> String { TextEncoding.hex.encode(key.facts.name) }
}
