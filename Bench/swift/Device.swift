// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Tenon
import TenonSynheart
import TestFolders

/// A device that is registered, whose key costs nothing: what is left of a signature is what Tenon adds to it.
struct Device {
    let identity: DeviceIdentity
    private let folder: ScratchFolder

    init() async throws {
        folder = try ScratchFolder()
        let vault = ScriptedVault(.constants)
        let service = try Synheart(baseURL: "https://auth.example/auth", appID: "app")
        let opened = try StateFolder(at: folder.path)
        identity = try DeviceIdentity(
            appID: "app", profile: service, vault: vault, transport: ScriptedService(FlowTime()), folder: opened)
        try Self.register(RecordStore(Self.name(service), in: opened), service, try await vault.makeKey())
    }

    private static func name(_ service: Synheart) throws -> IdentityName {
        let declaration = service.declaration
        return try IdentityName(profile: declaration.profile, baseURL: declaration.baseURL, appID: "app")
    }

    /// What a registration leaves.
    private static func register(_ store: RecordStore, _ service: Synheart, _ key: KeyFacts) throws {
        let held = try store.lock.acquire(within: .seconds(1))
        defer { held.release() }
        let declaration = service.declaration
        var record = IdentityRecord(
            store.name, origin: "https://auth.example", dialect: declaration.dialect, platform: declaration.platform,
            alias: declaration.alias, deviceLocalID: try RequestHeaders.makeNonce())
        try store.create(record, held)
        try store.save(key, as: .generation(1), held)
        try record.add(key, as: .current, generation: 1, isHardware: true)
        for state in [IdentityState.challengeReceived, .keyReady] { try record.move(to: state) }
        try record.begin(.register(1, message: [1]))
        try record.move(to: .registering)
        try record.markSent()
        record.settle()
        record.deviceID = "dev_1"
        try record.move(to: .registered)
        let registered = record
        try store.change(held) { $0 = registered }
    }
}
