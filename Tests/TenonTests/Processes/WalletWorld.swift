// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Tenon
import TenonITWallet
import Testing

/// An IT-Wallet instance with changing processes: its folder, and the provider, which stays.
struct WalletWorld {
    let temporary: TemporaryFolder
    let service: WalletService
    let store: RecordStore

    init(_ service: WalletService) throws {
        temporary = try TemporaryFolder()
        self.service = service
        let name = try IdentityName(profile: "it-wallet", baseURL: "https://wallet.example/it", appID: "app")
        store = RecordStore(name, in: try StateFolder(at: temporary["state"]))
    }

    init() throws { try self.init(WalletService()) }

    /// A copy of another one.
    init(copying other: WalletWorld) throws {
        try self.init(WalletService(copying: other.service))
        _ = try store.folder.attic()
        for (name, bytes) in try other.files() { try temporary.put(bytes, as: "state/" + name) }
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

    /// Starts a process of the device.
    ///
    /// - Parameter number: the number of the system call before which it dies; 0 for none.
    func child(dyingAt number: Int = 0) throws -> Child {
        try Child(
            "wallet", temporary["state"], "\(number)", TextEncoding.base64.encode(service.ekCertificate),
            TextEncoding.base64.encode(service.ca.root.certificate))
    }

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

    /// The private halves of the keys that have a file, as a ``ScriptedVault`` writes them.
    func secrets() throws -> [String] {
        try files().filter { $0.key.contains(".pem") }.values.flatMap { Self.words(in: $0) }
    }

    private static func words(in bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(separator: " ").filter { $0.utf8.count == 64 }.map(String.init)
    }

    /// The files in which one of these is, as it is or in base64.
    func files(with secrets: [String]) throws -> [String] {
        let forms = secrets.flatMap { secret in
            // Where a text begins within base64 decides which characters it becomes; those at both ends are not its own.
            [secret]
                + (0..<3).map { TextEncoding.base64.encode(Array(repeating: 0, count: $0) + secret.utf8) }
                .map { String($0.dropFirst(4).dropLast(4)) }
        }
        return try files().filter { file in
            let text = String(decoding: file.value, as: UTF8.self)
            return forms.contains { text.contains($0) }
        }.map(\.key)
    }

    /// The instances whose key has no file any more.
    func lostInstances() async throws -> Int {
        let vault = ScriptedVault(seed: "one")
        var keys: Set<PublicKey> = []
        for (name, pem) in try files() where name.contains(".g") && name.hasSuffix(".pem") {
            keys.insert(try await vault.key(vault.facts(ofFile: pem)).publicKey)
        }
        return service.instances.values.count { !keys.contains($0) }
    }

    /// The record and the provider say the same, and nothing is left over.
    func expectAgreement(_ place: String, instances: Int = 1) throws {
        let record = try #require(store.read().value, "\(place)")
        #expect(record.state == .registered && record.journal == nil && record.keys.count == 1, "\(place)")
        #expect(record.deviceID.flatMap { service.instances[$0] } != nil, "\(place)")
        #expect(service.instances.count == instances, "\(place)")
        #expect(service.tagsWithTwoKeys == 0 && service.keysWithTwoTags == 0, "\(place)")
        #expect(try !files().keys.contains { $0.hasSuffix(".tmp") }, "\(place)")
    }
}
