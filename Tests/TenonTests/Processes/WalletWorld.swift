// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Tenon
import TenonITWallet
import Testing

/// An IT-Wallet instance with changing processes.
typealias WalletWorld = ProcessWorld<WalletService>

extension ProcessWorld<WalletService> {
    init() throws {
        let service = try WalletService()
        try self.init(
            service, "it-wallet", at: "https://wallet.example/it", "wallet",
            [service.ekCertificate, service.ca.root.certificate].map { TextEncoding.base64.encode($0) })
    }

    func copy() throws -> Self { try copy(at: WalletService(copying: service)) }

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
        let kept = try await Set(keptKeys())
        return service.instances.values.count { !kept.contains($0) }
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
