// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Glibc
import Synchronization
import Tenon
import Testing

/// A device with changing processes: its folder, and the service, which stays.
struct DeviceWorld {
    let temporary: TemporaryFolder
    let service: ScriptedService
    let store: RecordStore

    init() throws {
        temporary = try TemporaryFolder()
        service = ScriptedService(FlowTime())
        let name = try IdentityName(profile: "plain", baseURL: "https://service.example", appID: "app")
        store = RecordStore(name, in: try StateFolder(at: temporary["state"]))
    }

    /// A copy of another one.
    init(copying other: DeviceWorld) throws {
        try self.init()
        let state = other.service.state.withLock { $0 }
        service.change { $0 = state }
        for name in try other.store.folder.names() where name.hasPrefix(other.store.name.id) {
            if let file = other.store.folder.read(name, atMost: 1 << 20).value {
                try temporary.put(file.bytes, as: "state/" + name)
            }
        }
    }

    /// Starts a process of the device.
    ///
    /// - Parameter number: the number of the system call before which it dies; 0 for none.
    func child(dyingAt number: Int = 0) throws -> Child { try Child("device", temporary["state"], "\(number)") }

    /// Starts a process that carries out these commands, each of which must have the given result.
    func expect(_ steps: KeyValuePairs<String, String>, _ place: String) throws {
        let child = try child()
        for (command, end) in steps { #expect(child.perform(command, at: service) == end, "\(place): \(command)") }
        child.end()
        #expect(child.wait() == 0, "\(place)")
    }

    /// The public keys that still have a file, in use or in the attic.
    var keptKeys: Set<String> {
        get async throws {
            let vault = ScriptedVault(seed: "one")
            var keys: Set<String> = []
            for folder in [store.folder, try store.folder.attic()] {
                for name in try folder.names() where name.contains(".g") && name.contains(".pem") {
                    guard let pem = folder.read(name, atMost: 4096).value?.bytes else { continue }
                    let key = try await vault.key(vault.facts(ofFile: pem)).publicKey
                    keys.insert(PlainProfile().text(of: key))
                }
            }
            return keys
        }
    }

    /// Every key that the service ever held still has a file, and no partial file is left.
    func expectTidy(_ place: String) async throws {
        let held = service.devices.values.reduce(into: Set<String>()) { $0.formUnion($1.retired.union([$1.key])) }
        #expect(try await keptKeys.isSuperset(of: held), "\(place): a key of the service is gone")
        let names = try store.folder.names()
        #expect(!names.contains { $0.hasSuffix(".tmp") }, "\(place)")
        let keys = store.read().value?.keys ?? []
        #expect(names.count { $0.contains(".g") } == keys.count, "\(place)")
    }
}
