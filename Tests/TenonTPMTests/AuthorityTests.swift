// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import TenonTPM
import Testing

/// Devices in a TPM at an authority, by the bytes that go over the wire.
@Suite(.timeLimit(.minutes(2))) struct AuthorityTests {
    @Test(arguments: [EndorsementKey.Kind.rsa2048, .p384])
    func endToEnd(_ kind: EndorsementKey.Kind) async throws {
        try await withTPM(state: Endorsed.state) { _, tpm in
            try await AuthorityRig.with { rig in
                let device = try Device(tpm, kind)
                let answer = try await rig.register(device)
                #expect(answer.verdict == "200")
                let id = try #require(answer.json["device_id"]?.string)
                let chain = try SecretAnswer(chain: answer.certificates())
                try chain.verify(for: device.ak.publicArea.publicKey, roots: rig.keys.roots, now: rig.service.now)
                let stored = try #require(try await rig.stores.devices.device(app: "demo", id: id))
                #expect(stored.level == .attested && stored.attestation?.akName == device.ak.name)
                let echo = try await rig.signed(device.key, "demo", id, "POST", "/v1/echo") { _ in [1, 2] }
                #expect(echo.verdict == "200" && echo.json["attestation"]?.string == "attested")
                // A lost answer is repaired by the same key under a fresh challenge.
                let again = try await rig.register(device)
                #expect(again.json["device_id"]?.string == id)
                #expect(try again.certificates()[0] != chain.chain[0])
            }
        }
    }

    /// Each breaks one thing of a registration that is good else.
    @Test func whatIsNoActivation() async throws {
        try await withTPM(state: Endorsed.state) { _, tpm in
            try await AuthorityRig.with { rig in
                let device = try Device(tpm)
                let other = try await TPM.AttestationKey(beside: device.key)
                func verdict(
                    origin: String = "https://localhost",
                    _ change: (inout [String: JSON], String) async throws -> Void
                ) async throws -> String {
                    let challenge = try await rig.challenge(device)
                    var message = try await rig.registration(device, challenge, origin: origin)
                    try await change(&message, try #require(challenge.json["challenge"]?.string))
                    return try await rig.post("/v1/device/register", message).verdict
                }
                let refused = "400 INVALID_ATTESTATION"
                #expect(try await verdict { message, _ in message["activation_proof"] = nil } == refused)
                #expect(try await verdict { message, _ in message["proof"] = nil } == refused)
                #expect(try await verdict { message, _ in message["proof"] = "none" } == refused)
                // For another service, which passed our challenge on (security.md A1).
                #expect(try await verdict(origin: "https://evil.example") { _, _ in } == refused)
                #expect(
                    try await verdict { message, _ in
                        message["activation_proof"] = .sent([UInt8](repeating: 0, count: 32))
                    } == refused)
                // Of another challenge.
                let earlier = try await rig.challenge(device)
                let earlierMessage = try await rig.registration(device, earlier)
                #expect(
                    try await verdict { message, _ in
                        message["activation_proof"] = earlierMessage["activation_proof"]
                    } == refused)
                #expect(try await verdict { message, _ in message["proof"] = earlierMessage["proof"] } == refused)
                // By an AK that nobody activated (security.md A2).
                #expect(
                    try await verdict { message, challenge in
                        let nonce = try Digest(bindingChallenge: challenge, toKeyText: device.keyText)
                        let proof = try await device.key.attest(by: other, qualifyingData: nonce.rawRepresentation)
                        message["proof"] = .string(TextEncoding.base64url.encode(proof.dataRepresentation))
                    } == refused)
                // Of a key that is in no TPM.
                #expect(
                    try await verdict { message, _ in
                        message["public_key"] = .sent(try SoftwareKey().publicKey.derRepresentation)
                    } == refused)
                // A challenge without a credential is not redeemed with an activation (security.md A4).
                let plain = try await rig.post("/v1/device/challenge", ["app_id": "demo"])
                #expect(try await verdict { message, _ in message["challenge"] = plain.json["challenge"] } == refused)
                #expect(try await rig.stores.devices.devices(app: nil, from: nil, limit: 9).devices.isEmpty)
                #expect(try await verdict { _, _ in } == "200")
            }
        }
    }

    @Test func whichTPMsAreTaken() async throws {
        try await withTPM(state: Endorsed.state) { _, tpm in
            let device = try Device(tpm)
            let ek = try EndorsementKey(unverified: device.chain[0])
            try await AuthorityRig.with { rig in
                #expect(try await rig.challenge(device, app: "bare").verdict == "403 INVALID_ATTESTATION")
                #expect(try await rig.challenge(device, app: "listed").verdict == "403 INVALID_ATTESTATION")
                for verdict in ["200", "200", "403 REGISTRATION_REJECTED"] {
                    #expect(try await rig.register(Device(tpm), app: "few").verdict == verdict)
                }
                // Denied between the challenge and the registration.
                let challenge = try await rig.challenge(device)
                #expect(try await rig.revoke(["ek_id": .string(ek.id.description)]) == "200")
                let message = try await rig.registration(device, challenge)
                #expect(try await rig.post("/v1/device/register", message).verdict == "403 INVALID_ATTESTATION")
                #expect(try await rig.challenge(device).verdict == "403 INVALID_ATTESTATION")
                let request = try AttestRequest(ekCertificates: device.chain, ak: device.ak.publicArea)
                #expect(await rig.post("/ca/demo/attest", try request.encoded()).verdict == "403 INVALID_ATTESTATION")
            }
            try await AuthorityRig.with(inventory: [ek.id]) { rig async throws in
                #expect(try await rig.register(device, app: "listed").verdict == "200")
            }
        }
    }

    /// Dialect `docs`: a certificate of the attestation CA, then a proof that carries it.
    /// What the configuration denies, by key, by maker, by a list of the issuer's: at all three doors.
    @Test func whatAnOperatorDenies() async throws {
        try await withTPM(state: Endorsed.state) { _, tpm in
            let device = try Device(tpm)
            let ek = try EndorsementKey(unverified: device.chain[0])
            for (deny, verdict) in [
                ("{}", "200"), (#"{"ek_ids": ["\#(ek.id)"]}"#, "403 INVALID_ATTESTATION"),
                (#"{"ek_ids": ["\#(String(repeating: "ab", count: 32))"]}"#, "200"),
                (#"{"models": [{"maker": "id:00001014"}]}"#, "403 INVALID_ATTESTATION"),
                (#"{"models": [{"maker": "id:00001014", "version": "none"}]}"#, "200"),
            ] {
                try await AuthorityRig.with(inventory: [ek.id], deny: deny) { rig in
                    for app in ["demo", "listed"] {
                        #expect(try await rig.challenge(device, app: app).verdict == verdict, "\(deny)")
                        let request = try AttestRequest(ekCertificates: device.chain, ak: device.ak.publicArea)
                        #expect(
                            await rig.post("/ca/\(app)/attest", try request.encoded()).verdict == verdict, "\(deny)")
                    }
                    // Whom an inventory names alone is known by the key alone.
                    let request = try AttestRequest(ekCertificates: [device.chain[0]], ak: device.ak.publicArea)
                    let named = await rig.post("/ca/named/attest", try request.encoded())
                    #expect(named.verdict == (deny.contains("models") ? "200" : verdict), "\(deny)")
                }
            }
        }
    }

    @Test func byTheAttestationCA() async throws {
        try await withTPM(state: Endorsed.state) { _, tpm in
            try await AuthorityRig.with { rig in
                let device = try Device(tpm)
                let chain = try await rig.certificates(device, app: "demo")
                let others = try await rig.certificates(device, app: "other")
                func verdict(
                    _ certificates: [[UInt8]], activation: JSON? = nil
                ) async throws -> AuthorityAnswer {
                    let plain = try await rig.post("/v1/device/challenge", ["app_id": "demo"])
                    let challenge = try #require(plain.json["challenge"]?.string)
                    var message: [String: JSON] = [
                        "app_id": "demo", "challenge": .string(challenge), "public_key": .string(device.keyText),
                        "proof": .string(try await rig.proof(device, challenge, certificates: certificates)),
                    ]
                    message["activation_proof"] = activation
                    return try await rig.post("/v1/device/register", message)
                }
                // Without a credential never with an activation (security.md A4).
                #expect(try await verdict(chain, activation: "AAAA").verdict == "400 INVALID_ATTESTATION")
                // A certificate is good for one app (security.md 1.2), and so is none at all.
                #expect(try await verdict(others).verdict == "403 INVALID_ATTESTATION")
                #expect(try await verdict([]).verdict == "400 INVALID_ATTESTATION")
                let answer = try await verdict(chain)
                #expect(answer.verdict == "200" && answer.json["ak_certificate"] == nil)
                let id = try #require(answer.json["device_id"]?.string)
                let stored = try #require(try await rig.stores.devices.device(app: "demo", id: id))
                #expect(stored.level == .attested)
                let serial = try TextEncoding.hex.encode(#require(stored.akSerial))
                #expect(try await rig.revoke(["serial": .string(serial)]) == "200")
                #expect(try await verdict(chain).verdict == "403 INVALID_ATTESTATION")
            }
        }
    }

    /// What an attestation CA gives is one app's, and a secret is good once wherever it is brought.
    /// A CA whose key is in a TPM (security.md F2): what it issues is as good.
    @Test func theKeyOfTheCAInATPM() async throws {
        try await withTPM(state: Endorsed.state) { _, tpm in
            try await AuthorityRig.with(caIn: tpm) { rig in
                let device = try Device(tpm)
                let chain = try await rig.certificates(device, app: "demo")
                let answer = try await rig.post("/v1/device/challenge", ["app_id": "demo"])
                let challenge = try #require(answer.json["challenge"]?.string)
                let registered = try await rig.post(
                    "/v1/device/register",
                    [
                        "app_id": "demo", "challenge": .string(challenge), "public_key": .string(device.keyText),
                        "proof": .string(try await rig.proof(device, challenge, certificates: chain)),
                    ])
                #expect(registered.verdict == "200")
                #expect(try await rig.register(Device(tpm)).certificates().count == 2)
            }
        }
    }

    @Test func theSecretOfAnotherApp() async throws {
        try await withTPM(state: Endorsed.state) { _, tpm in
            try await AuthorityRig.with { rig in
                let device = try Device(tpm)
                let request = try AttestRequest(ekCertificates: device.chain, ak: device.ak.publicArea)
                let offer = await rig.post("/ca/demo/attest", try request.encoded())
                let credential = try AttestAnswer(parsing: offer.body).credential
                let secret = try await device.ak.secret(of: credential, certificate: device.chain[0])
                let body = try SecretRequest(secret).encoded()
                // No secret is a challenge, nor a challenge a secret.
                let text = TextEncoding.base64.encode(secret.withBytes { span in span.indices.map { span[$0] } })
                let message: [String: JSON] = [
                    "app_id": "demo", "challenge": .string(text), "public_key": .string(device.keyText),
                ]
                #expect(try await rig.post("/v1/device/register", message).verdict == "400 INVALID_CHALLENGE")
                #expect(await rig.post("/ca/other/secret", body).verdict == "400 INVALID_CHALLENGE")
                #expect(await rig.post("/ca/demo/secret", body).verdict == "400 INVALID_CHALLENGE")
                let claimed = AttestRequest(
                    ekCertificates: device.chain, ak: request.ak, ek: device.key.publicKey.derRepresentation)
                #expect(
                    await rig.post("/ca/demo/attest", try claimed.encoded()).verdict == "400 INVALID_ATTESTATION")
            }
        }
    }

    /// A rotated key is certified by the same AK, or refused.
    @Test func rotation() async throws {
        try await withTPM(state: Endorsed.state) { _, tpm in
            try await AuthorityRig.with { rig in
                let device = try Device(tpm)
                let answer = try await rig.register(device)
                let id = try #require(answer.json["device_id"]?.string)
                let next = try await TPM.PrivateKey(in: tpm)
                let other = try await TPM.AttestationKey(beside: next)
                func verdict(
                    _ ak: TPM.AttestationKey?, origin: String = "https://localhost", certificates: [[UInt8]] = []
                ) async throws -> String {
                    let text = TextEncoding.base64.encode(next.publicKey.derRepresentation)
                    return try await rig.signed(device.key, "demo", id, "POST", "/v1/device/rotate-key") { timestamp in
                        var members: [String: JSON] = [
                            "app_id": "demo", "device_id": .string(id), "new_public_key": .string(text),
                        ]
                        if let ak {
                            let nonce = try Digest.rotationNonce(
                                origin: origin, appID: "demo", deviceID: id, oldKeyText: device.keyText,
                                newKeyText: text, timestamp: timestamp)
                            let proof = try await next.attest(
                                by: ak, qualifyingData: nonce.rawRepresentation, certificates: certificates)
                            members["proof"] = .string(TextEncoding.base64url.encode(proof.dataRepresentation))
                        }
                        return try JSON.members(members).encoded()
                    }.verdict
                }
                #expect(try await verdict(nil) == "400 INVALID_ATTESTATION")
                #expect(try await verdict(other) == "400 INVALID_ATTESTATION")
                #expect(try await verdict(device.ak, origin: "https://evil.example") == "400 INVALID_ATTESTATION")
                #expect(try await rig.signed(device.key, "demo", id, "GET", "/v1/device/self").verdict == "200")
                #expect(try await verdict(device.ak) == "200")
                // Again, as after a lost answer; nothing changes, so nothing is to be proven.
                #expect(try await verdict(nil) == "200")
                #expect(try await rig.signed(next, "demo", id, "GET", "/v1/echo").verdict == "200")
                let stored = try #require(try await rig.stores.devices.device(app: "demo", id: id))
                #expect(stored.level == .attested && stored.publicKey == next.publicKey)
            }
        }
    }

    /// By another AK of the same EK that has a live certificate for the same app; or without a proof, where the app's
    /// record has the device marked.
    @Test(arguments: [
        ("demo", "demo" as String?, EndorsementKey.Kind.p384, "200", TenonAuthority.Device.Level.attested),
        ("demo", "other", .p384, "403 INVALID_ATTESTATION", .attested),
        ("demo", "demo", .rsa2048, "403 INVALID_ATTESTATION", .attested),
        ("marked", nil, .p384, "200", .unattested),
    ])
    func rotationByACertificateOrMarked(
        _ app: String, _ certifier: String?, _ kind: EndorsementKey.Kind, _ verdict: String,
        _ level: TenonAuthority.Device.Level
    ) async throws {
        try await withTPM(state: Endorsed.state) { _, tpm in
            try await AuthorityRig.with { rig in
                let device = try Device(tpm)
                let id = try #require(try await rig.register(device, app: app).json["device_id"]?.string)
                let next = try await TPM.PrivateKey(in: tpm)
                let second = try Device(tpm, kind)
                let text = TextEncoding.base64.encode(next.publicKey.derRepresentation)
                let answer = try await rig.signed(device.key, app, id, "POST", "/v1/device/rotate-key") { timestamp in
                    var members: [String: JSON] = [
                        "app_id": .string(app), "device_id": .string(id), "new_public_key": .string(text),
                    ]
                    if let certifier {
                        let nonce = try Digest.rotationNonce(
                            origin: "https://localhost", appID: app, deviceID: id, oldKeyText: device.keyText,
                            newKeyText: text, timestamp: timestamp)
                        let proof = try await next.attest(
                            by: second.ak, qualifyingData: nonce.rawRepresentation,
                            certificates: rig.certificates(second, app: certifier))
                        members["proof"] = .string(TextEncoding.base64url.encode(proof.dataRepresentation))
                    }
                    return try JSON.members(members).encoded()
                }
                #expect(answer.verdict == verdict)
                let stored = try #require(try await rig.stores.devices.device(app: app, id: id))
                #expect(stored.level == level && (stored.publicKey == next.publicKey) == (verdict == "200"))
            }
        }
    }
}

extension AuthorityService {
    fileprivate var now: Int64 { SteadyClock().now().seconds }
}
