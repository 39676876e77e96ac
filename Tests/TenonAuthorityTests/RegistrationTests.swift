// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import Testing

@Suite struct RegistrationTests {
    private var stores: TestStores { .current }

    static func certificate(
        _ serial: UInt8, app: String = "demo", ek: String, notAfter: Int64 = 1_900_000_000
    ) throws -> AKCertificate {
        let attestation = try Sample.attestation(ek: ek)
        return AKCertificate(
            serial: Array(repeating: serial, count: 16), app: app, ek: attestation.ek, akName: attestation.akName,
            notAfter: notAfter)
    }

    @Test(.stores) func whatIsRegisteredIsFound() async throws {
        let sample = try Sample()
        let registration = try sample.registration(ek: "ek")
        #expect(try await stores.register(registration) == .registered(registration.device))
        let id = registration.device.id
        #expect(try await stores.devices.device(app: "demo", id: id) == registration.device)
        #expect(try await stores.devices.device(app: "other", id: id) == nil)
        #expect(try await stores.devices.device(app: "demo", id: id + "x") == nil)
    }

    @Test(.stores) func theSameKeyIsTheSameDevice() async throws {
        let sample = try Sample()
        let first = try sample.registration(ek: "ek")
        _ = try await stores.register(first)
        // Neither the offered id nor the device's own data changes anything.
        var again = try sample.registration(ek: "ek", id: "another")
        again.device.localID = "another"
        #expect(try await stores.register(again) == .known(first.device))
        #expect(try await stores.devices.device(app: "demo", id: "another") == nil)
        for changed in [
            try sample.registration(ek: "another ek"), try sample.registration(),
            try sample.registration(app: "other", ek: "ek"),
        ] {
            #expect(try await stores.register(changed) == .refused(.keyInUse))
        }
        // Evidence by a certificate names the attestation key, without its public area.
        var shown = try sample.registration(ek: "ek")
        shown.device.attestation?.akPublic = []
        #expect(try await stores.register(shown) == .known(first.device))
        #expect(try await stores.devices.device(app: "demo", id: first.device.id) == first.device)
        // A lost attestation key is replaced by a new one in the known TPM (decision: command-and-code).
        var anotherAK = try sample.registration(ek: "ek")
        anotherAK.device.attestation?.akName = [1]
        anotherAK.device.attestation?.akPublic = [2]
        var expected = first.device
        expected.attestation = anotherAK.device.attestation
        #expect(try await stores.register(anotherAK) == .known(expected))
        #expect(try await stores.devices.device(app: "demo", id: expected.id) == expected)
    }

    @Test(.stores) func aChallengeRegistersOnce() async throws {
        let (one, two) = (try Sample(), try Sample())
        _ = try await stores.register(one.registration(challenge: "c"))
        #expect(try await stores.register(two.registration(challenge: "c")) == .refused(.challengeSpent))
        #expect(try await stores.register(one.registration(challenge: "c")) == .refused(.challengeSpent))
        // A registration of a known key spends its challenge; a refused one does not.
        #expect(try await stores.register(one.registration(ek: "ek", challenge: "d")) == .refused(.keyInUse))
        _ = try await stores.known(one.registration(challenge: "d"))
        #expect(try await stores.register(two.registration(challenge: "d")) == .refused(.challengeSpent))
        _ = try await stores.registered(two)
    }

    @Test(.stores) func revokedAndRetiredKeysAreRefused() async throws {
        let (sample, next) = (try Sample(), try Sample())
        let device = try await stores.registered(sample)
        _ = try await stores.rotate(next.rotation(of: device))
        #expect(try await stores.register(sample.registration()) == .refused(.keyRetired))
        #expect(try await stores.register(sample.registration(app: "other")) == .refused(.keyInUse))
        _ = try await stores.revoke(.device(app: "demo", id: device.id, compromised: false))
        #expect(try await stores.register(next.registration()) == .refused(.revoked(deviceID: device.id)))
        #expect(try await stores.register(sample.registration()) == .refused(.revoked(deviceID: device.id)))
    }

    @Test(.stores) func anEKHasItsLimit() async throws {
        var devices: [Device] = []
        for _ in 0..<2 { devices.append(try await stores.registered(Sample().registration(ek: "ek", limit: 2))) }
        let third = try Sample()
        for _ in 0..<3 {
            #expect(try await stores.register(third.registration(ek: "ek", limit: 2)) == .refused(.tooManyDevices))
        }
        // The limit does not affect other TPMs, other apps and known keys.
        _ = try await stores.register(Sample().registration(ek: "other ek", limit: 2))
        _ = try await stores.register(Sample().registration(app: "other", ek: "ek", limit: 2))
        _ = try await stores.revoke(.device(app: "demo", id: devices[0].id, compromised: false))
        let registration = try third.registration(ek: "ek", limit: 2)
        #expect(try await stores.register(registration) == .registered(registration.device))
    }

    @Test(.stores) func theLimitHoldsFor64AtOnce() async throws {
        let outcomes = try await atOnce(64) { _ in
            try await stores.register(Sample().registration(ek: "ek", limit: 8))
        }
        #expect(outcomes.count { $0 == .refused(.tooManyDevices) } == 56)
    }

    /// One key, 64 times at once: one device, whose id all of them get.
    @Test(.stores) func raceOfOneKey() async throws {
        let sample = try Sample()
        let ids = try await atOnce(64) { index in
            switch try await stores.register(sample.registration(id: "id \(index)")) {
            case .registered(let device): (device.id, true)
            case .known(let device): (device.id, false)
            case .refused(let refusal): throw Surprise("\(refusal)")
            }
        }
        #expect(Set(ids.map(\.0)).count == 1)
        #expect(ids.count { $0.1 } == 1)
    }

    @Test(.stores) func raceOfOneChallenge() async throws {
        let outcomes = try await atOnce(64) { _ in
            try await stores.register(Sample().registration(challenge: "one"))
        }
        #expect(outcomes.count { $0 == .refused(.challengeSpent) } == 63)
    }

    @Test(.stores) func certificatesHaveToFit() async throws {
        let sample = try Sample()
        let misfits = [
            try Self.certificate(1, app: "other", ek: "ek"), try Self.certificate(2, ek: "other"),
            try Self.certificate(3, ek: "ek", notAfter: 1_800_000_000),
        ]
        for certificate in misfits {
            let issued = try sample.registration(ek: "ek", certificate: .issued(certificate))
            #expect(try await stores.register(issued) == .refused(.certificate))
            #expect(try await stores.devices.record(certificate))
            let shown = try sample.registration(ek: "ek", certificate: .shown(serial: certificate.serial))
            #expect(try await stores.register(shown) == .refused(.certificate))
        }
        let unknown = try sample.registration(ek: "ek", certificate: .shown(serial: [9]))
        #expect(try await stores.register(unknown) == .refused(.certificate))

        let good = try Self.certificate(4, ek: "ek")
        let device = try await stores.registered(sample.registration(ek: "ek", certificate: .issued(good)))
        #expect(device.akSerial == good.serial)
        #expect(try await stores.devices.certificate(serial: good.serial)?.device == device.id)
        #expect(try await stores.devices.certificate(serial: [9]) == nil)
    }

    /// Registering again gives a new certificate and leaves the old one live; the device keeps the last serial.
    @Test(.stores) func certificatesAreRenewed() async throws {
        let sample = try Sample()
        let (old, new) = (try Self.certificate(1, ek: "ek"), try Self.certificate(2, ek: "ek"))
        #expect(try await stores.devices.record(old))
        _ = try await stores.register(sample.registration(ek: "ek", certificate: .shown(serial: old.serial)))
        let device = try await stores.known(sample.registration(ek: "ek", certificate: .issued(new)))
        #expect(device.akSerial == new.serial)
        #expect(try await stores.devices.device(app: "demo", id: device.id) == device)
        for serial in [old.serial, new.serial] {
            let certificate = try await stores.devices.certificate(serial: serial)
            #expect(certificate?.isLive == true && certificate?.device == device.id)
        }
    }
}
