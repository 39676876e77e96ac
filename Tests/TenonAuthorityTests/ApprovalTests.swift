// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import Testing

/// Devices that an operator must approve.
@Suite struct ApprovalTests {
    private var stores: TestStores { .current }
    private var audited: AuditedStoreTests.Audited { .current }

    private func pending(_ sample: Sample, limit: Int = 9, perEK: Int? = nil) throws -> DeviceRegistration {
        let certificate = try RegistrationTests.certificate(UInt8(truncatingIfNeeded: sample.number), ek: "ek")
        var registration = try sample.registration(ek: "ek", certificate: .issued(certificate), limit: perEK)
        registration.device.state = .pending
        registration.maxPending = limit
        return registration
    }

    private func decide(_ stores: TestStores, _ approval: Approval, _ id: String) async throws -> Approval.Outcome {
        try await stores.devices.decide(approval, device: id, reason: "a test")
    }

    @Test(.stores) func itWaitsAndIsLetIn() async throws {
        let sample = try Sample()
        var device = try await stores.registered(pending(sample))
        #expect(device.state == .pending && device.akSerial == nil)
        let id = device.id
        #expect(try await stores.register(pending(sample)) == .known(device))
        // Nothing was issued to it.
        let serial = [UInt8](repeating: UInt8(truncatingIfNeeded: sample.number), count: 16)
        #expect(try await stores.devices.certificate(serial: serial) == nil)
        #expect(try await stores.devices.pendingDevices(app: "demo", from: nil, limit: 9).devices == [device])
        #expect(try await stores.devices.pendingDevices(app: "other", from: nil, limit: 9).devices.isEmpty)
        let next = try Sample()
        #expect(try await stores.rotate(next.rotation(of: device)) == .refused(.unknownDevice))
        device.state = .active
        #expect(try await decide(stores, .approve, id) == .decided(device))
        #expect(try await decide(stores, .approve, id) == .already(device))
        #expect(try await decide(stores, .reject, id) == .notPending(device))
        #expect(try await decide(stores, .approve, "nobody") == .unknownDevice)
        #expect(try await stores.devices.pendingDevices(app: nil, from: nil, limit: 9).devices.isEmpty)
        device.akSerial = serial
        #expect(try await stores.register(pending(sample)) == .known(device))
        #expect(try await stores.devices.certificate(serial: serial)?.isLive == true)
    }

    @Test(.stores) func itIsTurnedAway() async throws {
        let sample = try Sample()
        var device = try await stores.registered(pending(sample))
        device.state = .rejected
        for outcome in [Approval.Outcome.decided(device), .already(device)] {
            #expect(try await decide(stores, .reject, device.id) == outcome)
        }
        #expect(try await decide(stores, .approve, device.id) == .notPending(device))
        #expect(try await stores.register(pending(sample)) == .refused(.rejected))
        // Its machine may ask with another key.
        _ = try await stores.registered(pending(Sample()))
    }

    /// Clients cannot fill the store, and one TPM cannot fill the queue.
    @Test(.stores) func asManyAsMayWait() async throws {
        var devices: [Device] = []
        for _ in 0..<2 { devices.append(try await stores.registered(pending(Sample(), limit: 2))) }
        #expect(try await stores.register(pending(Sample(), limit: 2)) == .refused(.tooManyPending))
        #expect(try await stores.register(pending(Sample(), limit: 9, perEK: 2)) == .refused(.tooManyDevices))
        _ = try await decide(stores, .reject, devices[0].id)
        _ = try await stores.registered(pending(Sample(), limit: 2))
    }

    /// A TPM that was revoked meanwhile, and an app that asks no operator any more.
    @Test(.stores) func whatComesBetween() async throws {
        let sample = try Sample()
        var device = try await stores.registered(pending(sample))
        _ = try await stores.revoke(.ek(Sample.digest("ek")))
        #expect(try await decide(stores, .approve, device.id) == .ekDenied(device))
        #expect(try await stores.devices.allow(ek: Sample.digest("ek"), reason: ""))
        device.state = .active
        #expect(try await stores.register(sample.registration(ek: "ek")) == .registered(device))
        // Conversely, an approved device stays.
        #expect(try await stores.known(pending(sample)).state == .active)
        let waiting = try await stores.registered(pending(Sample()))
        let outcome = try await stores.revoke(.device(app: "demo", id: device.id, compromised: true))
        #expect(outcome.devices.map(\.id) == [device.id, waiting.id])
        #expect(outcome.devices.allSatisfy { $0.state == .revoked })
    }

    @Test(.audited) func eachDecisionHasItsLine() async throws {
        var ids: [String] = []
        for approval in [Approval.approve, .reject] {
            let sample = try Sample()
            for _ in 0..<2 { _ = try await audited.devices.register(pending(sample), at: audited.now) }
            ids.append("device-\(sample.number)")
            for _ in 0..<2 { _ = try await decide(audited.stores, approval, "device-\(sample.number)") }
        }
        var count = 0
        let lines = try audited.lines(after: &count)
        #expect(
            lines.map { $0["event"]?.string } == [
                "registration_pending", "device_approved", "registration_pending", "device_rejected",
            ])
        #expect(lines.map { $0["device"]?.string } == [ids[0], ids[0], ids[1], ids[1]])
        #expect(lines[1]["reason"] == "a test" && lines[3]["reason"] == "a test")
    }

    /// The same through requests.
    @Test func overTheWire() async throws {
        let apps = """
            [{"id": "open", "require_attestation": false, "registration": "approve", "max_pending": 2}]
            """
        try await ServiceRig.with(apps: apps) { rig in
            let key = try SoftwareKey()
            func register(_ key: SoftwareKey) async throws -> AuthorityAnswer { try await rig.register(key.publicKey) }
            func decide(_ decision: String, _ id: String) async throws -> AuthorityAnswer {
                let message: JSON = ["device_id": .string(id), "decision": .string(decision)]
                return try await rig.post("/v1/decide", message, at: .admin)
            }
            let first = try await register(key)
            #expect(first.verdict == "200" && first.json["status"]?.string == "pending")
            let id = try #require(first.json["device_id"]?.string)
            #expect(try await register(key).json["device_id"]?.string == id)
            let device = TestDevice(app: "open", id: id, key: key)
            #expect(try await rig.echo(device) == "401 NOT_REGISTERED")
            let other = try #require(try await register(SoftwareKey()).json["device_id"]?.string)
            let full = try await register(SoftwareKey())
            #expect(full.verdict == "503 UNAVAILABLE" && full.header("Retry-After") == "60")
            let page = await rig.service.ask("GET", "/v1/devices?state=pending", at: .admin)
            #expect(page.json["devices"]?.array?.map { $0["device_id"]?.string } == [id, other])
            #expect(try await decide("maybe", id).verdict == "400 INVALID_REQUEST")
            #expect(try await decide("approve", "nobody").verdict == "404 NOT_FOUND")
            #expect(try await decide("approve", id).json["changed"] == true)
            #expect(try await decide("approve", id).json["changed"] == false)
            #expect(try await decide("reject", id).verdict == "409 NOT_ALLOWED")
            #expect(try await decide("reject", other).json["device"]?["state"]?.string == "rejected")
            let again = try await register(key)
            #expect(again.json["status"]?.string == "registered" && again.json["device_id"]?.string == id)
            #expect(try await rig.echo(device) == "200")
        }
    }
}
