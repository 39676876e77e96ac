// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import Testing

/// Devices whose changes are in the log before anybody is told of them.
@Suite struct AuditedStoreTests {
    struct Audited {
        let stores: TestStores
        let devices: AuditedDeviceStore
        let log: AuditLog
        let folder: TestFolder

        var now: AuthorityInstant { stores.clock.now() }

        /// The lines since the last call.
        func lines(after count: inout Int) throws -> [JSON] {
            let lines = try AuditReader.lines(folder)
            defer { count = lines.count }
            return Array(lines.dropFirst(count))
        }
    }

    static func withStore(_ kind: StoreKind, _ body: (Audited) async throws -> Void) async throws {
        let folder = try TestFolder()
        try await kind.withStores { stores in
            let log = try AuditLog(
                in: AuthorityFolder(folder.path), clock: stores.clock, options: .init(instance: "main", key: [1]))
            let devices = AuditedDeviceStore(stores.devices, log: log)
            try await body(Audited(stores: stores, devices: devices, log: log, folder: folder))
            await log.close()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func eachChangeHasItsLine(_ kind: StoreKind) async throws {
        try await Self.withStore(kind) { audited in
            let (devices, now) = (audited.devices, audited.now)
            let (one, two) = (try Sample(), try Sample())
            let certificate = try RegistrationTests.certificate(1, ek: "ek")
            let first = try one.registration(ek: "ek", certificate: .issued(certificate))
            let id = first.device.id
            var device = try #require(try await registered(devices.register(first, at: now)))
            var count = 0
            func check(
                _ event: String, app: String? = "demo", id: String? = id, _ details: [String: JSON] = [:]
            ) throws {
                let lines = try audited.lines(after: &count)
                #expect(lines.count == 1 && lines.first?["event"]?.string == event)
                #expect(lines.first?["app"]?.string == app && lines.first?["device"]?.string == id)
                for (name, value) in details { #expect(lines.first?[name] == value, "\(event): \(name)") }
            }
            let serial = String(repeating: "01", count: 16)
            try check("registered", ["level": "attested", "serial": .string(serial)])
            _ = try await devices.register(one.registration(ek: "ek"), at: now)
            try check("registered_again")
            _ = try await devices.rotate(two.rotation(of: device), at: now)
            try check("rotated")
            _ = try await devices.rotate(two.rotation(of: device), at: now)
            try check("rotated_again")
            device.publicKey = two.key

            _ = try await devices.record(RegistrationTests.certificate(2, ek: "ek"))
            try check("certificate_issued", id: nil, ["serial": .string(String(repeating: "02", count: 16))])
            _ = try await devices.revoke(.certificate(serial: certificate.serial), reason: "r", at: now)
            try check("certificate_revoked", app: nil, id: nil, ["serial": .string(serial), "reason": "r"])
            _ = try await devices.revoke(.device(app: "demo", id: id, compromised: true), reason: "gone", at: now)
            try check("device_revoked", ["reason": "gone", "compromised": true, "certificates": 2])
            _ = try await devices.allow(ek: Sample.digest("ek"), reason: "found")
            try check("ek_allowed", app: nil, id: nil, ["reason": "found"])
            _ = try await devices.revoke(.ek(Sample.digest("new")), reason: "x", at: now)
            try check("ek_denied", app: nil, id: nil, ["reason": "x", "certificates": 0])
        }
    }

    func registered(_ outcome: DeviceRegistration.Outcome) -> Device? {
        if case .registered(let device) = outcome { device } else { nil }
    }

    @Test(arguments: StoreKind.allCases)
    func whatChangesNothingHasNoLine(_ kind: StoreKind) async throws {
        try await Self.withStore(kind) { audited in
            let (devices, now) = (audited.devices, audited.now)
            let sample = try Sample()
            let device = try await audited.stores.registered(sample)
            #expect(try await devices.device(app: "demo", id: device.id) == device)
            #expect(try await devices.devices(app: "demo", from: nil, limit: 1).devices == [device])
            #expect(try await devices.retiredKeys(ofDevice: device.id, limit: 1).isEmpty)
            #expect(try await devices.certificate(serial: [1]) == nil)
            #expect(try await !devices.isDenied(ek: Sample.digest("ek")))
            #expect(try await !devices.allow(ek: Sample.digest("ek"), reason: ""))
            #expect(try await devices.retiredKeyUsed(sample.key, at: now) == .unknownKey)
            let refused = try await devices.register(sample.registration(app: "other"), at: now)
            #expect(refused == .refused(.keyInUse))
            _ = try await devices.rotate(sample.rotation(of: device, app: "other"), at: now)
            for none in [
                Revocation.device(app: "other", id: device.id, compromised: true), .certificate(serial: [1]),
            ] {
                #expect(try await !devices.revoke(none, reason: "", at: now).found)
            }
            #expect(try AuditReader.lines(audited.folder).isEmpty)
        }
    }

    /// A copy of a key is not a way to fill the disk.
    @Test(arguments: StoreKind.allCases)
    func aRetiredKeysUsesAreNotedFewTimes(_ kind: StoreKind) async throws {
        try await Self.withStore(kind) { audited in
            let (old, new) = (try Sample(), try Sample())
            let device = try await audited.stores.registered(old)
            _ = try await audited.stores.rotate(new.rotation(of: device))
            let later = audited.now.advanced(byMilliseconds: 700_000)
            for _ in 0..<20 { _ = try await audited.devices.retiredKeyUsed(old.key, at: later) }
            let lines = try AuditReader.lines(audited.folder)
            #expect(lines.map { $0["uses"]?.integer } == [1, 2, 4, 8, 16])
            #expect(lines.allSatisfy { $0["event"]?.string == "retired_key_used" && $0["device"]?.string == device.id })
        }
    }

    /// Without its line nothing is acknowledged; the same call again, when there is room, says what has happened.
    @Test(arguments: StoreKind.allCases)
    func withoutALineNothingIsAcknowledged(_ kind: StoreKind) async throws {
        try await Self.withStore(kind) { audited in
            let (one, two) = (try Sample(), try Sample())
            let now = audited.now
            await audited.log.close()
            let certificate = try RegistrationTests.certificate(1, ek: "ek")
            let failures = await [
                errorThrown { try await audited.devices.register(one.registration(), at: now) },
                errorThrown { try await audited.devices.rotate(two.rotation(of: one.device()), at: now) },
                errorThrown { try await audited.devices.record(certificate) },
                errorThrown {
                    try await audited.devices.revoke(
                        .device(app: "demo", id: one.device().id, compromised: true), reason: "", at: now)
                },
            ]
            #expect(failures.map { $0?.code } == Array(repeating: .storeClosed, count: 4))

            let log = try AuditLog(
                in: AuthorityFolder(audited.folder.path), clock: audited.stores.clock,
                options: .init(instance: "main", key: [1]))
            let devices = AuditedDeviceStore(audited.stores.devices, log: log)
            let id = try one.device().id
            _ = try await devices.revoke(.device(app: "demo", id: id, compromised: true), reason: "", at: now)
            #expect(try AuditReader.events(audited.folder, key: [1]) == ["device_revoked \(id)"])
            #expect(try await devices.register(two.registration(), at: now) == .refused(.revoked(deviceID: id)))
            await log.close()
        }
    }
}
