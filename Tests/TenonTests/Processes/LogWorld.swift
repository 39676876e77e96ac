// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Glibc
import Synchronization
import Tenon
import TenonAuths
import Testing

/// A KERI identifier with changing processes: its folder, and the service, which stays.
struct LogWorld {
    let temporary: TemporaryFolder
    let service: LogService
    let store: RecordStore

    init() throws {
        temporary = try TemporaryFolder()
        service = LogService(FlowTime())
        let name = try IdentityName(profile: "auths", baseURL: "https://log.example", appID: "app")
        store = RecordStore(name, in: try StateFolder(at: temporary["state"]))
    }

    /// A copy of another one.
    init(copying other: LogWorld) throws {
        try self.init()
        let state = other.service.state.withLock { $0 }
        service.change { $0 = state }
        try take(other.files())
        let attic = try other.store.folder.attic()
        _ = try store.folder.attic()
        for name in try attic.names() {
            if let file = attic.read(name, atMost: 1 << 20).value {
                try temporary.put(file.bytes, as: "state/attic/" + name)
            }
        }
    }

    /// The files of the identity, without its lock.
    func files() throws -> [String: [UInt8]] { try store.files() }

    /// Puts files in their places, as a backup does that is restored.
    func take(_ files: [String: [UInt8]]) throws {
        for (name, bytes) in files { try temporary.put(bytes, as: "state/" + name) }
    }

    /// Starts a process of the device.
    ///
    /// - Parameter number: the number of the system call before which it dies; 0 for none.
    func child(dyingAt number: Int = 0) throws -> Child { try Child("log", temporary["state"], "\(number)") }

    func perform(_ command: String, _ child: Child) -> String? {
        child.perform(command) { line in
            ServiceLine.answer(to: line) { request throws(TenonError) in try service.exchange(request) }
        }
    }

    /// Starts a process that carries out these commands, each of which must have the given result.
    func expect(_ steps: KeyValuePairs<String, String>, _ place: String) throws {
        let child = try child()
        for (command, end) in steps { #expect(perform(command, child) == end, "\(place): \(command)") }
        child.end()
        #expect(child.wait() == 0, "\(place)")
    }

    /// Each number has one event, and each key that an event names or commits to still has a file.
    func expectWhole(_ place: String) async throws {
        #expect(service.numbersWithTwoEvents == 0, "\(place)")
        let (texts, digests) = try await keptKeys()
        for (prefix, log) in service.logs {
            for event in log {
                let json = try JSON(parsing: event.bytes)
                let (key, next) = (json["k"]?.array?.first?.string ?? "", json["n"]?.array?.first?.string ?? "")
                #expect(texts.contains(key), "\(place): a key of \(prefix) is gone")
                #expect(digests.contains(next), "\(place): a next key of \(prefix) is gone")
            }
        }
    }

    /// The record, the log beside it, and what the service holds say the same.
    func expectAgreement(_ place: String) throws {
        #expect(try !store.folder.names().contains { $0.hasSuffix(".tmp") }, "\(place)")
        let record = try #require(store.read().value, "\(place)")
        let lines = store.log().value ?? []
        let log = try #require(record.deviceID.flatMap { service.logs[$0] }, "\(place)")
        #expect(record.state == .registered && record.journal == nil && record.keys.count == 2, "\(place)")
        #expect(record.logTail?.sequence == Int64(log.count - 1), "\(place)")
        #expect(lines == log.map { $0.bytes + Array($0.attachment.utf8) }, "\(place)")
    }

    /// The texts and the digests of the keys that have a file, in use or in the attic.
    private func keptKeys() async throws -> (texts: Set<String>, digests: Set<String>) {
        let vault = ScriptedVault(seed: "one")
        var (texts, digests): (Set<String>, Set<String>) = ([], [])
        for folder in [store.folder, try store.folder.attic()] {
            for name in try folder.names() where name.contains(".g") && name.contains(".pem") && !name.hasSuffix(".tmp")
            {
                guard let pem = folder.read(name, atMost: 4096).value?.bytes else { continue }
                let key = try await vault.key(vault.facts(ofFile: pem)).publicKey
                texts.insert(key.keriText)
                digests.insert(key.keriDigest)
            }
        }
        return (texts, digests)
    }
}
