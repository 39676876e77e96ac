// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import Testing

@Suite struct RevocationTests {
    private var stores: TestStores { .current }

    /// A device of a TPM, with a certificate.
    static func attested(_ stores: TestStores, _ serial: UInt8, ek: String = "ek") async throws -> Device {
        let certificate = try RegistrationTests.certificate(serial, ek: ek)
        return try await stores.registered(Sample().registration(ek: ek, certificate: .issued(certificate)))
    }

    static func isLive(_ serial: UInt8, _ stores: TestStores) async throws -> Bool? {
        try await stores.devices.certificate(serial: Array(repeating: serial, count: 16))?.isLive
    }

    @Test(.stores) func byDevice() async throws {
        let (one, two) = (try await Self.attested(stores, 1), try await Self.attested(stores, 2))
        let revocation = Revocation.device(app: "demo", id: one.id, compromised: false)
        stores.clock.advance(5_000)
        let outcome = try await stores.revoke(revocation)
        #expect(outcome.device?.state == .revoked && outcome.device?.revokedAt == 1_800_000_005)
        #expect(outcome.found && outcome.certificates == 1)
        stores.clock.advance(5_000)
        #expect(try await stores.revoke(revocation) == outcome)
        #expect(try await stores.devices.device(app: "demo", id: one.id) == outcome.device)
        #expect(try await stores.devices.device(app: "demo", id: two.id)?.state == .active)
        #expect(try await Self.isLive(1, stores) == false)
        #expect(try await Self.isLive(2, stores) == true)
        #expect(try await !stores.devices.isDenied(ek: Sample.digest("ek")))
        let another = Revocation.device(app: "other", id: two.id, compromised: true)
        #expect(try await stores.revoke(another) == Revocation.Outcome(found: false))
    }

    /// A certificate that a second device with the same AK showed is recorded for that one, and still belongs to the
    /// first.
    @Test(.stores) func aSharedCertificateGoesWithEitherDevice() async throws {
        let one = try await Self.attested(stores, 1)
        let serial = try #require(one.akSerial)
        let shown = try Sample().registration(ek: "ek", certificate: .shown(serial: serial))
        _ = try await stores.register(shown)
        #expect(try await stores.devices.certificate(serial: serial)?.device == shown.device.id)
        #expect(try await stores.revoke(.device(app: "demo", id: one.id, compromised: false)).certificates == 1)
        #expect(try await Self.isLive(1, stores) == false)
    }

    @Test(.stores) func aCompromisedDeviceTakesItsTPMWithIt() async throws {
        let (one, two) = (try await Self.attested(stores, 1), try await Self.attested(stores, 2))
        let outcome = try await stores.revoke(.device(app: "demo", id: one.id, compromised: true))
        #expect(outcome.certificates == 2)
        #expect(try await stores.devices.isDenied(ek: Sample.digest("ek")))
        #expect(try await Self.isLive(2, stores) == false)
        #expect(try await stores.devices.device(app: "demo", id: two.id)?.state == .revoked)
        #expect(try await stores.register(Sample().registration(ek: "ek")) == .refused(.ekDenied))
        #expect(try await stores.rotate(Sample().rotation(of: two)) == .refused(.revoked))
    }

    /// A preview says what a revocation would do, and changes nothing.
    @Test(.stores) func aLookChangesNothing() async throws {
        let (one, two) = (try await Self.attested(stores, 1), try await Self.attested(stores, 2))
        let plain = try await stores.registered(try Sample())
        for (revocation, devices, tpm) in [
            (Revocation.device(app: "demo", id: one.id, compromised: true), [one, two], Revocation.TPM.denied),
            (.device(app: "demo", id: one.id, compromised: false), [one], .allowed),
            (.device(app: "demo", id: plain.id, compromised: true), [plain], .unknown),
        ] {
            let outcome = try await stores.devices.preview(revocation, at: stores.clock.now())
            #expect(outcome.devices == devices && outcome.tpm == tpm && outcome.found)
            #expect(outcome.certificates == devices.filter { $0.akSerial != nil }.count)
        }
        #expect(try await stores.devices.devices(app: nil, from: nil, limit: 9).devices == [one, two, plain])
        #expect(try await !stores.devices.isDenied(ek: Sample.digest("ek")))
        #expect(try await Self.isLive(1, stores) == true)
    }

    @Test(.stores) func byCertificate() async throws {
        let device = try await Self.attested(stores, 1)
        let serial = try #require(device.akSerial)
        for _ in 0..<2 {
            let outcome = try await stores.revoke(.certificate(serial: serial))
            #expect(outcome == Revocation.Outcome(certificates: 1, found: true))
        }
        #expect(try await Self.isLive(1, stores) == false)
        #expect(try await stores.devices.device(app: "demo", id: device.id)?.state == .active)
        #expect(try await stores.revoke(.certificate(serial: [1])) == Revocation.Outcome(found: false))
        let shown = try Sample().registration(ek: "ek", certificate: .shown(serial: serial))
        #expect(try await stores.register(shown) == .refused(.certificate))
    }

    @Test(.stores) func byEK() async throws {
        let device = try await Self.attested(stores, 1)
        let ek = try Sample.digest("ek")
        #expect(try await stores.revoke(.ek(ek)) == Revocation.Outcome(certificates: 1, tpm: .denied, found: true))
        #expect(try await stores.devices.isDenied(ek: ek))
        #expect(try await Self.isLive(1, stores) == false)
        #expect(try await !stores.devices.record(RegistrationTests.certificate(2, ek: "ek")))
        #expect(try await Self.isLive(2, stores) == nil)
        #expect(try await stores.register(Sample().registration(ek: "ek")) == .refused(.ekDenied))
        // Its devices stay, and may not register again.
        #expect(try await stores.devices.device(app: "demo", id: device.id)?.state == .active)

        #expect(try await stores.devices.allow(ek: ek, reason: ""))
        #expect(try await !stores.devices.allow(ek: ek, reason: ""))
        #expect(try await !stores.devices.isDenied(ek: ek))
        #expect(try await Self.isLive(1, stores) == false)
        _ = try await Self.attested(stores, 3)
        // A TPM can be denied before it ever registers.
        #expect(
            try await stores.revoke(.ek(Sample.digest("new"))) == Revocation.Outcome(tpm: .denied, found: false))
        #expect(try await stores.register(Sample().registration(ek: "new")) == .refused(.ekDenied))
    }

    @Test(.stores) func devicesAreListedInPages() async throws {
        var ids: [String: [String]] = [:]
        for index in 0..<25 {
            let app = index % 5 == 0 ? "other" : "demo"
            let registration = try Sample().registration(app: app)
            _ = try await stores.register(registration)
            ids[app, default: []].append(registration.device.id)
            ids["all", default: []].append(registration.device.id)
        }
        for (app, limit) in [("demo", 6), ("demo", 20), ("demo", 1_000), ("other", 5), ("other", 1), ("all", 25)] {
            var listed: [String] = []
            var place: Int64?
            var pages = 0
            repeat {
                let page = try await stores.devices.devices(
                    app: app == "all" ? nil : app, from: place, limit: limit)
                #expect(page.devices.count <= limit)
                listed += page.devices.map(\.id)
                place = page.next
                pages += 1
            } while place != nil
            #expect(listed == ids[app])
            #expect(pages == (listed.count + limit - 1) / limit)
        }
        #expect(try await stores.devices.devices(app: "none", from: nil, limit: 0).devices.isEmpty)
        #expect(try await stores.devices.devices(app: nil, from: nil, limit: -1).devices.count == 1)
    }
}
