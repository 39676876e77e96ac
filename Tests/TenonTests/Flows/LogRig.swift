// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Tenon
import TenonAuths
import Testing

/// A KERI identifier, its disk and a service.
struct LogRig {
    let folder: TemporaryFolder
    let service = LogService(FlowTime())
    let vault = ScriptedVault()

    init() throws { folder = try TemporaryFolder() }

    static func registered(rotations: Int = 0) async throws -> LogRig {
        let rig = try LogRig()
        try await rig.identity().register()
        for _ in 0..<rotations { try await rig.identity().rotate() }
        return rig
    }

    /// The identifier and the log that the service holds.
    var held: (prefix: String, log: [KeyEvent]) {
        get throws { try #require(service.logs.first.map { ($0.key, $0.value) }) }
    }

    /// - Parameter transport: the way to the service; nil for none but its own.
    func identity(
        _ calls: SystemCalls = SystemCalls(), through transport: (any Transport)? = nil
    ) throws -> DeviceIdentity {
        try DeviceIdentity(
            appID: "app", profile: Auths(baseURL: "https://log.example", appID: "app"), vault: vault,
            transport: transport ?? service, folder: folder.open(calls), clock: service.time.clock)
    }

    var store: RecordStore {
        get throws {
            RecordStore(
                try IdentityName(profile: "auths", baseURL: "https://log.example", appID: "app"),
                in: try folder.open())
        }
    }

    func record() throws -> IdentityRecord { try #require(try store.read().value) }

    /// The device and the service say the same, and no number has two events.
    func expectAgreement(events: Int, _ place: String = "") throws {
        #expect(try service.expectAgreement(with: store, place) == events, "\(place)")
        #expect(service.numbersWithTwoEvents == 0 && service.logs.count == 1, "\(place)")
    }
}

extension LogService {
    /// The record, the log beside it, and what the service holds say the same.
    ///
    /// - Returns: how many events they have.
    @discardableResult
    func expectAgreement(with store: RecordStore, _ place: String) throws -> Int {
        let record = try #require(store.read().value, "\(place)")
        let log = try #require(record.deviceID.flatMap { logs[$0] }, "\(place)")
        #expect(record.state == .registered && record.journal == nil && record.keys.count == 2, "\(place)")
        #expect(record.logTail?.sequence == Int64(log.count - 1), "\(place)")
        #expect(store.log().value ?? [] == log.map { $0.bytes + Array($0.attachment.utf8) }, "\(place)")
        return log.count
    }
}

extension RecordStore {
    /// The files of the identity without its lock, as a backup has them.
    func files() throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for file in try folder.names() where file.hasPrefix(name.id) && !file.hasSuffix(".lock") {
            files[file] = folder.read(file, atMost: 1 << 20).value?.bytes
        }
        return files
    }
}
