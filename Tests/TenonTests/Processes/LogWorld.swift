// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Synchronization
import Tenon
import TenonAuths
import Testing

/// A KERI identifier with changing processes.
typealias LogWorld = ProcessWorld<LogService>

extension ProcessWorld<LogService> {
    init() throws { try self.init(LogService(FlowTime()), "auths", at: "https://log.example", "log") }

    func copy() throws -> Self { try copy(at: LogService(FlowTime(), service.state.withLock { $0 })) }

    /// Each number has one event, and each key that an event names or commits to still has a file.
    func expectWhole(_ place: String) async throws {
        #expect(service.numbersWithTwoEvents == 0, "\(place)")
        let keys = try await keptKeys()
        let (texts, digests) = (Set(keys.map(\.keriText)), Set(keys.map(\.keriDigest)))
        for (prefix, log) in service.logs {
            for event in log {
                let json = try JSON(parsing: event.bytes)
                let (key, next) = (json["k"]?.array?.first?.string ?? "", json["n"]?.array?.first?.string ?? "")
                #expect(texts.contains(key), "\(place): a key of \(prefix) is gone")
                #expect(digests.contains(next), "\(place): a next key of \(prefix) is gone")
            }
        }
    }

    func expectAgreement(_ place: String) throws {
        #expect(try !store.folder.names().contains { $0.hasSuffix(".tmp") }, "\(place)")
        try service.expectAgreement(with: store, place)
    }
}
