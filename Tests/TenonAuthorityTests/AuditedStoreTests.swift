// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import Testing

/// Changes of devices are in the log before they are acknowledged.
@Suite struct AuditedStoreTests {
    private var audited: AuditedStoreTests.Audited { .current }

    struct Audited: Given {
        @TaskLocal static var held: Audited?
        static var given: TaskLocal<Audited?> { $held }

        static func on(_ kind: StoreKind, _ body: (Audited) async throws -> Void) async throws {
            let folder = try TestFolder()
            try await kind.withStores { stores in
                let log = try AuditedStoreTests.log(folder)
                try await stores.devices.audit(in: log)
                try await body(Audited(stores: stores, log: log, folder: folder))
                await log.close()
            }
        }

        let stores: TestStores
        let log: AuditLog
        let folder: TestFolder

        var devices: any DeviceStore { stores.devices }
        var now: AuthorityInstant { stores.clock.now() }

        /// The lines since the last call.
        func lines(after count: inout Int) throws -> [JSON] {
            let lines = try AuditReader.lines(folder)
            defer { count = lines.count }
            return Array(lines.dropFirst(count))
        }
    }

    static func log(_ folder: TestFolder, instance: String = "main", accepts: Bool = false) throws -> AuditLog {
        try AuditLog(
            in: AuthorityFolder(folder.path), clock: FakeClock(),
            options: .init(instance: instance, key: [1], accepts: accepts))
    }

    @Test(.audited) func eachChangeHasItsLine() async throws {
        let (devices, now) = (audited.devices, audited.now)
        let (one, two) = (try Sample(), try Sample())
        let certificate = try RegistrationTests.certificate(1, ek: "ek")
        let first = try one.registration(ek: "ek", certificate: .issued(certificate))
        let id = first.device.id
        var device = try await audited.stores.registered(first)
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

    /// Each device that goes with its machine has a line, under its own app and id.
    @Test(.audited) func aMachineThatIsCompromisedHasALineForEachDevice() async throws {
        let (one, two) = (try Sample(), try Sample())
        let first = try await audited.stores.registered(one.registration(ek: "ek"))
        let second = try await audited.stores.registered(two.registration(app: "other", ek: "ek"))
        let stranger = try await audited.stores.registered(try Sample())
        var count = 0
        _ = try audited.lines(after: &count)
        let revocation = Revocation.device(app: "demo", id: first.id, compromised: true)
        _ = try await audited.devices.revoke(revocation, reason: "stolen", at: audited.now)
        let lines = try audited.lines(after: &count)
        #expect(lines.map { $0["event"]?.string } == ["device_revoked", "device_revoked"])
        #expect(lines.map { $0["device"]?.string } == [first.id, second.id])
        #expect(lines.map { $0["app"]?.string } == ["demo", "other"])
        #expect(lines.allSatisfy { $0["reason"] == "stolen" && $0["compromised"] == true })
        #expect(try await audited.devices.device(app: "demo", id: stranger.id)?.state == .active)
    }

    @Test(.audited) func whatChangesNothingHasNoLine() async throws {
        let (devices, now) = (audited.devices, audited.now)
        let sample = try Sample()
        let device = try await audited.stores.registered(sample)
        var count = 0
        #expect(try audited.lines(after: &count).count == 1)
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
        #expect(try audited.lines(after: &count).isEmpty)
    }

    /// A copy of a key is not a way to fill the disk.
    @Test(.audited) func aRetiredKeysUsesAreNotedFewTimes() async throws {
        let (old, new) = (try Sample(), try Sample())
        let device = try await audited.stores.registered(old)
        _ = try await audited.stores.rotate(new.rotation(of: device))
        let later = audited.now.advanced(byMilliseconds: 700_000)
        for _ in 0..<20 { _ = try await audited.devices.retiredKeyUsed(old.key, at: later) }
        let lines = try AuditReader.lines(audited.folder).dropFirst(2)
        #expect(lines.map { $0["uses"]?.integer } == [1, 2, 4, 8, 16])
        #expect(lines.allSatisfy { $0["event"]?.string == "retired_key_used" && $0["device"]?.string == device.id })
    }

    /// A change is not acknowledged without its line, and no change stays without one: the line is written when
    /// possible, once, and in the order of the changes.
    @Test(.audited) func aLineThatCouldNotBeWrittenIsWrittenLater() async throws {
        let (one, two, now) = (try Sample(), try Sample(), audited.now)
        let certificate = try RegistrationTests.certificate(1, ek: "ek")
        await audited.log.close()
        let id = try one.device().id
        let revocation = Revocation.device(app: "demo", id: id, compromised: true)
        let failures = await [
            errorThrown { try await audited.devices.register(one.registration(), at: now) },
            errorThrown { try await audited.devices.rotate(two.rotation(of: one.device()), at: now) },
            errorThrown { try await audited.devices.record(certificate) },
            errorThrown { try await audited.devices.revoke(revocation, reason: "r", at: now) },
            errorThrown { try await audited.devices.revoke(.ek(Sample.digest("ek")), reason: "r", at: now) },
            errorThrown { try await audited.devices.allow(ek: Sample.digest("ek"), reason: "r") },
            errorThrown { try await audited.devices.tidy(at: now) },
        ]
        #expect(failures.map { $0?.code } == Array(repeating: .storeClosed, count: 7))
        #expect(audited.devices.waitingLines == 6)

        for _ in 0..<3 {
            let log = try Self.log(audited.folder)
            try await audited.devices.audit(in: log)
            try await audited.devices.tidy(at: now)
            await log.close()
        }
        #expect(audited.devices.waitingLines == 0)
        let events = [
            "registered \(id)", "rotated \(id)", "certificate_issued ", "device_revoked \(id)", "ek_denied ",
            "ek_allowed ",
        ]
        #expect(try AuditReader.events(audited.folder, key: [1]) == events)
    }

    /// A process ends between writing a line and removing it from the store: the next one sees that the line is in the
    /// log.
    @Test(.audited) func aLineThatWasWrittenIsNotWrittenAgain() async throws {
        var ids: [String] = []
        for _ in 0..<3 { ids.append(try await audited.stores.registered(Sample()).id) }
        await audited.log.close()
        let sample = try Sample()
        let error = await errorThrown { try await audited.stores.registered(sample) }
        #expect(error?.code == .storeClosed)
        ids.append(try sample.device().id)
        // Of a process that ended before it wrote the line, whose log is behind another's lines.
        let log = try Self.log(audited.folder)
        try await audited.devices.audit(in: log)
        ids.append(try await audited.stores.registered(Sample()).id)
        await log.close()
        #expect(try AuditReader.events(audited.folder, key: [1]) == ids.map { "registered \($0)" })
    }

    /// More lines than are taken out of the store at a time, while others write.
    @Test(.audited) func whatIsInTheLogLeavesTheStore() async throws {
        _ = try await atOnce(8) { worker in
            for round in 0..<40 {
                _ = try await audited.stores.register(Sample().registration(id: "\(worker).\(round)"))
                if round == worker * 5 { try await audited.devices.tidy(at: audited.now) }
            }
        }
        try await audited.devices.tidy(at: audited.now)
        await audited.log.close()
        let events = try AuditReader.events(audited.folder, key: [1])
        #expect(events.count == 320 && Set(events).count == 320)
        // The names of its lines are in another log: had any stayed, it would come again.
        let other = try TestFolder()
        let log = try Self.log(other, accepts: true)
        try await audited.devices.audit(in: log)
        await log.close()
        #expect(try AuditReader.events(other, key: [1]) == ["log_accepted "])
    }

    /// A change whose line would be too long is not made.
    @Test(.audited) func withoutRoomForItsLineNothingChanges() async throws {
        let device = try await audited.stores.registered(Sample())
        let long = String(repeating: "\u{1}", count: 300)
        let revocation = Revocation.device(app: "demo", id: device.id, compromised: false)
        let error = await errorThrown {
            try await audited.devices.revoke(revocation, reason: long, at: audited.now)
        }
        #expect(error?.code == .tooLarge)
        #expect(try await audited.devices.device(app: "demo", id: device.id)?.state == .active)
        #expect(try AuditReader.lines(audited.folder).count == 1)
    }

    /// Two instances over one PostgreSQL: each change has one line, in the log of the one that made it, whatever
    /// becomes of the other.
    @Test(arguments: SharedStoreTests.kinds)
    func eachInstanceWritesItsOwn(_: StoreKind) async throws {
        let name = SharedServers.name()
        let stores = try (0..<2).map { _ in try SharedServers.postgres(name) }
        let folders = try (0..<2).map { _ in try TestFolder() }
        let logs = [try Self.log(folders[0], instance: "a"), try Self.log(folders[1], instance: "b")]
        for (store, log) in zip(stores, logs) { try await store.audit(in: log) }
        let acknowledged = try await atOnce(64) { index -> String? in
            if index == 32 { await logs[0].close() }
            let registration = try Sample().registration(id: "\(index)")
            let now = FakeClock().now()
            if await errorThrown({ try await stores[index % 2].register(registration, at: now) }) != nil { return nil }
            return "registered \(index)"
        }.compactMap { $0 }
        #expect(acknowledged.count >= 32)
        // The other instance finds nothing of it.
        for store in stores { try? await store.tidy(at: FakeClock().now()) }
        await logs[1].close()
        let again = try Self.log(folders[0], instance: "a")
        try await stores[0].audit(in: again)
        await again.close()
        let lines = try folders.map { try AuditReader.lines($0).map { $0["device"]?.string ?? "" } }
        #expect(lines[1].sorted() == (0..<64).filter { $0 % 2 == 1 }.map(String.init).sorted())
        let registered = try await stores[0].devices(app: nil, from: nil, limit: 100).devices.map(\.id)
        #expect((lines[0] + lines[1]).sorted() == registered.sorted())
        for store in stores { await store.close() }
    }
}
