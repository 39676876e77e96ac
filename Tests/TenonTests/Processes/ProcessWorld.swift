// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Synchronization
import Tenon
import Testing

/// A device with changing processes: its folder, and the service, which stays.
struct ProcessWorld<Service: FatedService> {
    let temporary: TemporaryFolder
    let service: Service
    let store: RecordStore
    /// What `StateChild` does, and the arguments behind the number of the deadly call.
    private let verb: String
    private let arguments: [String]

    private init(_ service: Service, _ name: IdentityName, _ verb: String, _ arguments: [String]) throws {
        (self.service, self.verb, self.arguments, temporary) = (service, verb, arguments, try TemporaryFolder())
        store = RecordStore(name, in: try StateFolder(at: temporary["state"]))
    }

    init(_ service: Service, _ profile: String, at url: String, _ verb: String, _ arguments: [String] = []) throws {
        try self.init(service, IdentityName(profile: profile, baseURL: url, appID: "app"), verb, arguments)
    }

    /// The same device at a copy of its service.
    func copy(at service: Service) throws -> Self {
        let world = try Self(service, store.name, verb, arguments)
        try world.take(files())
        return world
    }

    /// The files of the identity, without its lock; `attic/` is before the names of those that are there.
    func files() throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for (folder, place) in [(store.folder, ""), (try store.folder.attic(), "attic/")] {
            for name in try folder.names() where name != "attic" && !name.hasSuffix(".lock") {
                files[place + name] = folder.read(name, atMost: 1 << 20).value?.bytes
            }
        }
        return files
    }

    /// Puts files in their places, as a backup does that is restored.
    func take(_ files: [String: [UInt8]]) throws {
        if files.keys.contains(where: { $0.hasPrefix("attic/") }) { _ = try store.folder.attic() }
        for (name, bytes) in files { try temporary.put(bytes, as: "state/" + name) }
    }

    /// The public keys that still have a file, in use or in the attic.
    func keptKeys() async throws -> [PublicKey] {
        let vault = ScriptedVault(seed: "one")
        var keys: [PublicKey] = []
        for (name, pem) in try files() where name.contains(".g") && name.contains(".pem") && !name.hasSuffix(".tmp") {
            keys.append(try await vault.key(vault.facts(ofFile: pem)).publicKey)
        }
        return keys
    }

    /// Starts a process of the device.
    ///
    /// - Parameter number: the number of the system call before which it dies; 0 for none.
    func child(dyingAt number: Int = 0) throws -> Child {
        try Child([verb, temporary["state"], "\(number)"] + arguments)
    }

    /// Starts a process that carries out a command, and dies before the system call with this number.
    ///
    /// - Returns: the result; nil if it died.
    func perform(_ command: String, dyingAt number: Int = 0, _ place: String = "") throws -> String? {
        let child = try child(dyingAt: number)
        let end = child.perform(command, at: service)
        child.end()
        #expect(child.wait() == (end == nil ? -9 : 0), "\(place)")
        #expect(end != nil || number > 0, "\(place)")
        return end
    }

    /// Starts a process that carries out these commands, each of which must have the given result.
    func expect(_ steps: KeyValuePairs<String, String>, _ place: String) throws {
        let child = try child()
        for (command, end) in steps { #expect(child.perform(command, at: service) == end, "\(place): \(command)") }
        child.end()
        #expect(child.wait() == 0, "\(place)")
    }

    /// Eight processes that know nothing of each other carry out twelve commands each; two of them die repeatedly.
    ///
    /// - Parameters:
    ///   - calls: the system calls among which is the deadly one.
    ///   - command: what a process does in its turn with this number.
    /// - Returns: how many commands ended in which way.
    func race(
        dyingWithin calls: Int, _ command: @escaping @Sendable (_ process: Int, _ turn: Int) -> String
    ) async throws -> [String: Int] {
        let ends = try await withThrowingTaskGroup(of: [String: Int].self) { group in
            for process in 0..<8 {
                let thread = WorkThread()
                group.addTask {
                    try await thread.run { () throws(TenonError) in drive(process, calls) { command(process, $0) } }
                }
            }
            return try await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        }
        #expect(ends.values.reduce(0, +) == 8 * 12)
        return ends
    }

    private func drive(_ process: Int, _ calls: Int, _ command: (Int) -> String) -> [String: Int] {
        var (turn, ends) = (0, [String: Int]())
        while turn < 12, let child = try? child(dyingAt: process < 6 ? 0 : Int.random(in: 1...calls)) {
            var isAlive = true
            while isAlive, turn < 12 {
                let end = child.perform(command(turn), at: service)
                ends[end ?? "died", default: 0] += 1
                (isAlive, turn) = (end != nil, turn + 1)
            }
            child.end()
            _ = child.wait()
        }
        return ends
    }
}

typealias DeviceWorld = ProcessWorld<ScriptedService>

extension ProcessWorld<ScriptedService> {
    init() throws { try self.init(ScriptedService(FlowTime()), "plain", at: "https://service.example", "device") }

    func copy() throws -> Self {
        let (service, state) = (ScriptedService(FlowTime()), service.state.withLock { $0 })
        service.change { $0 = state }
        return try copy(at: service)
    }

    /// Every key that the service ever held still has a file, and no partial file is left.
    func expectTidy(_ place: String) async throws {
        let held = service.devices.values.reduce(into: Set<String>()) { $0.formUnion($1.retired.union([$1.key])) }
        let kept = try await Set(keptKeys().map { PlainProfile().text(of: $0) })
        #expect(kept.isSuperset(of: held), "\(place): a key of the service is gone")
        let names = try store.folder.names()
        #expect(!names.contains { $0.hasSuffix(".tmp") }, "\(place)")
        let keys = store.read().value?.keys ?? []
        #expect(names.count { $0.contains(".g") } == keys.count, "\(place)")
    }
}
