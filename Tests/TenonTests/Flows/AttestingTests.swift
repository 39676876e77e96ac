// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Testing

@testable import Tenon

/// A lost attestation key, failed attestations, and answers that ask to wait.
@Suite struct AttestingTests {
    /// Decision: command-and-code, ak-certificate. Its loss never touches the signing key, and the device rotates on.
    @Test(arguments: [false, true])
    func aLostAttestationKeyIsActivatedAnew(_ isMaintained: Bool) async throws {
        let rig = try await FlowRig.registered()
        rig.vault.loseAttestationKeys()
        let identity = try rig.restarted()
        if isMaintained {
            try await identity.maintain()
            #expect(rig.service.paths == ["/challenge", "/register"])
        }
        try await identity.rotate()
        #expect(rig.service.paths == ["/challenge", "/register", "/rotate"])
        #expect(rig.vault.attestationKeysMade == 2 && rig.vault.keysMade == 2)
        #expect(rig.isAccepted(try await identity.sign("POST", path: "/x")))
        #expect(rig.service.devices.count == 1)
        // The service knows it now.
        try await identity.rotate()
        try await identity.maintain()
        #expect(rig.service.paths == ["/challenge", "/register", "/rotate", "/rotate", "/self"])
    }

    /// The endorsement key's certificate was shown once, so the operator need not allow it again.
    @Test func aRotationShowsNothingMore() async throws {
        let rig = try await FlowRig.registered()
        rig.vault.fail(.endorsement, TenonError(.ekMissing, message: ""))
        let identity = try rig.restarted()
        try await identity.rotate()
        try await identity.maintain()
        #expect(rig.service.paths == ["/rotate", "/self"])
    }

    /// The certificates above the endorsement key's are given once, and are kept for this certificate only.
    @Test func theChainOfAnotherTPMIsNotShown() async throws {
        let rig = try FlowRig()
        rig.vault.setAbove([[0x30, 0x01, 0x00], [0x30, 0x01, 0x01]])
        try await rig.identity.register()
        #expect(try rig.record().attestationSettings?.endorsement.count == 3)
        // The disk is in another machine, whose TPM has another certificate, and nobody gives the certificates above
        // that.
        let other = ScriptedVault(ekCertificate: [0x30, 0x02, 0x05, 0x00])
        let identity = try rig.restarted(with: other)
        try await identity.reset()
        try await identity.register()
        #expect(other.activated == [other.ekCertificate])
        // Back in its own machine, the given certificates are used again.
        rig.vault.setAbove([])
        let again = try rig.restarted(with: rig.vault)
        try await again.reset()
        try await again.register()
        #expect(rig.vault.activated.last == rig.vault.ekCertificate)
    }

    /// Certificates that do not fit into a record must be given again next time; the device is registered anyway.
    @Test func aChainThatIsTooLongIsNotKept() async throws {
        let rig = try FlowRig()
        rig.vault.setAbove(Array(repeating: [UInt8](repeating: 0x30, count: 4096), count: 20))
        try await rig.identity.register()
        #expect(rig.identity.isRegistered && rig.vault.activated.count == 1)
        #expect(try rig.record().attestationSettings == nil)
    }

    /// An attestation CA learns which TPM this is, but nobody in between does.
    @Test(arguments: ["http://ca.example", "https://ca.example", "http://localhost"])
    func anAttestationCAIsReachedSafely(_ url: String) async throws {
        let rig = try FlowRig { $0.attestation = .certificate }
        let identity = try rig.restarted(at: .init(url: url, roots: []))
        // A malformed certificate of this TPM is shown to no CA.
        let code = await refusal { try await identity.register() }
        #expect((code == .httpURL) == (url == "http://ca.example") && rig.service.seen.isEmpty)
    }

    /// Nobody gives its address again, so the error says which it is.
    @Test func aCAOfTheRecordIsNamed() async throws {
        let rig = try await FlowRig.registered()
        let name = try IdentityName(profile: "plain", baseURL: "https://service.example", appID: "app")
        let store = RecordStore(name, in: try rig.folder.open())
        let held = try #require(try store.lock.attempt())
        try store.change(held) { record throws(TenonError) in
            record.attestationSettings = AttestationSettings(service: .init(url: "ftp://ca", roots: []))
        }
        held.release()
        var profile = rig.profile
        profile.declaration.attestation = .certificate
        let identity = try DeviceIdentity(
            appID: "app", profile: profile, vault: rig.vault, transport: rig.service, folder: rig.folder.open(),
            clock: rig.time.clock)
        let error = await #expect(throws: TenonError.self) { try await identity.rotate() }
        #expect(error?.message.hasPrefix("The attestation CA at ftp://ca: ") == true)
    }

    /// Whatever the result is, it does not change the state, and the next call does it again.
    @Test(arguments: RegistrationTests.faults, [1, 2])
    func aLostActivationIsRepaired(_ fault: ScriptedService.Fate, _ step: Int) async throws {
        let rig = try await FlowRig.registered()
        rig.vault.loseAttestationKeys()
        rig.service.change { $0.fates = Array(repeating: .arrives, count: step - 1) + [fault] }
        try await rig.restarted().maintain()
        let record = try rig.record()
        #expect(record.state == .registered && record.journal == nil && record.key(.current)?.generation == 1)
        #expect(rig.isAccepted(try await rig.restarted().sign("POST", path: "/x")))
        try await rig.restarted().maintain()
        #expect(try rig.record().attestationKey?.isActivated == true)
        try await rig.restarted().rotate()
        try await rig.expectNotLost()
        #expect(rig.vault.attestationKeysMade == 2)
    }

    /// The service says that the key is that of another device.
    @Test func anActivationOfAnotherDeviceDoesNotCount() async throws {
        let rig = try await FlowRig.registered()
        rig.vault.loseAttestationKeys()
        rig.service.change { $0.devices = ["device-2": $0.devices["device-1"]].compactMapValues { $0 } }
        let identity = try rig.restarted()
        #expect(await refusal { try await identity.rotate() } == .serviceAnswer)
        #expect(try rig.record().attestationKey?.isActivated == false && rig.record().deviceID == "device-1")
    }

    /// Decision: own-ak. Who sees the key of another could tell that it is one machine.
    @Test func eachAuthorityIsShownAnotherKey() async throws {
        let rig = try await FlowRig.registered()
        var profile = rig.profile
        profile.declaration.attestation = .certificate
        for (number, ca) in ["https://ca.example", "https://ca.example", "https://other.example"].enumerated() {
            let identity = try DeviceIdentity(
                appID: "app", profile: profile, vault: rig.vault, transport: rig.service,
                attestationService: .init(url: ca, roots: []), folder: rig.folder.open(), clock: rig.time.clock)
            // It gives no certificate.
            #expect(await identity.code(.rotate) != nil)
            #expect(try rig.record().attestationKey?.shownTo == ca)
            #expect(rig.vault.attestationKeysMade == 2 + number / 2)
        }
    }

    @Test func aRevocationIsHeardThereToo() async throws {
        let rig = try await FlowRig.registered()
        rig.vault.loseAttestationKeys()
        rig.service.script(.arrives, .answers(403, "DEVICE_REVOKED"))
        rig.service.change { $0.devices["device-1"]?.isRevoked = true }
        let identity = try rig.restarted()
        #expect(await refusal { try await identity.maintain() } == .deviceRevoked)
        #expect(try identity.status().reason == .revoked)
    }

    @Test(arguments: [false, true])
    func maintainingFindsAKeyThatIsGone(_ isBare: Bool) async throws {
        let rig = try await FlowRig.registered()
        if isBare { rig.vault.makeBare() }
        rig.vault.clear()
        let identity = try rig.restarted()
        #expect(await refusal { try await identity.maintain() } == .keyInvalidated)
        #expect(try identity.status().reason == .tpmCleared)
        #expect(rig.service.paths == [] && rig.vault.attestationKeysMade == 1)
    }

    /// RFC 9110, 10.2.3: a date, on the service's clock.
    @Test(arguments: [0, 5000, -5000] as [Int64])
    func aWaitMayBeADate(_ skew: Int64) async throws {
        let rig = try FlowRig()
        rig.service.change { $0.skew = skew }
        let end = imfDate(rig.time.seconds + skew + 20)
        rig.service.script(.answers(503, nil, headers: [("Retry-After", end)]))
        try await rig.identity.register()
        #expect(rig.time.pauses == [.seconds(20)])
    }

    /// Decision: ak-certificate. At two thirds of its life.
    @Test func aCertificateIsDueAtTwoThirds() throws {
        func certificate(_ notBefore: Int64, _ notAfter: Int64) throws -> AttestationKey.Certificate {
            .init(issuer: "i", serial: [1], notBefore: notBefore, notAfter: notAfter, digest: try Digest(hashing: []))
        }
        let days = try certificate(1000, 1000 + 90)
        #expect(!days.isDue(at: 1059) && days.isDue(at: 1060) && days.isDue(at: 2000))
        #expect(try certificate(5, 1).isDue(at: 0))
        #expect(try certificate(.min, .max).isDue(at: 0))
    }
}
