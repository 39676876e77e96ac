// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import TenonTPM
import Testing

/// Devices in a TPM at an authority, by the bytes that go over the wire.
@Suite(.timeLimit(.minutes(2))) struct AuthorityTests {
    private var tpm: TPM { OpenTPM.current.tpm }

    @Test(arguments: [EndorsementKey.Kind.rsa2048, .p384])
    func endToEnd(_ kind: EndorsementKey.Kind) async throws {
        try await AuthorityRig.withTPM { rig, tpm in
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

    /// Each case breaks one part of a registration that is otherwise valid.
    @Test func whatIsNoActivation() async throws {
        try await AuthorityRig.withTPM { rig, tpm in
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
            let earlier = try await rig.challenge(device)
            let earlierMessage = try await rig.registration(device, earlier)
            // A challenge without a credential is not redeemed with an activation (decision: never-weaker).
            let plain = try await rig.post("/v1/device/challenge", ["app_id": "demo"])
            for (what, change) in [
                ("no activation", { message, _ in message["activation_proof"] = nil }),
                ("no proof", { message, _ in message["proof"] = nil }),
                ("a word", { message, _ in message["proof"] = "none" }),
                ("zeros", { message, _ in message["activation_proof"] = .sent([UInt8](repeating: 0, count: 32)) }),
                (
                    "the activation of another challenge",
                    { message, _ in message["activation_proof"] = earlierMessage["activation_proof"] }
                ),
                ("the proof of another challenge", { message, _ in message["proof"] = earlierMessage["proof"] }),
                (
                    // Decision: folded-activation.
                    "an AK that nobody activated",
                    { message, challenge in
                        let nonce = try Digest(bindingChallenge: challenge, toKeyText: device.keyText)
                        let proof = try await device.key.attest(by: other, qualifyingData: nonce.rawRepresentation)
                        message["proof"] = .string(TextEncoding.base64url.encode(proof.dataRepresentation))
                    }
                ),
                (
                    "a key outside any TPM",
                    { message, _ in message["public_key"] = .sent(try SoftwareKey().publicKey.derRepresentation) }
                ),
                ("a plain challenge", { message, _ in message["challenge"] = plain.json["challenge"] }),
            ] as [(String, (inout [String: JSON], String) async throws -> Void)] {
                #expect(try await verdict(change) == "400 INVALID_ATTESTATION", "\(what)")
            }
            // For another service, which passed our challenge on (decision: folded-activation).
            let evil = try await verdict(origin: "https://evil.example") { _, _ in }
            #expect(evil == "400 INVALID_ATTESTATION")
            #expect(try await rig.stores.devices.devices(app: nil, from: nil, limit: 9).devices.isEmpty)
            #expect(try await verdict { _, _ in } == "200")
        }
    }

    @Test(.endorsedTPM) func whichTPMsAreTaken() async throws {
        let device = try Device(tpm)
        let ek = try EndorsementKey(unverified: device.chain[0])
        try await AuthorityRig.with { rig in
            #expect(try await rig.challenge(device, app: "bare").verdict == "403 INVALID_ATTESTATION")
            #expect(try await rig.challenge(device, app: "listed").verdict == "403 INVALID_ATTESTATION")
            for verdict in ["200", "200", "403 REGISTRATION_REJECTED"] {
                #expect(try await rig.register(Device(tpm), app: "few").verdict == verdict)
            }
            // One app's acceptance does not count for another.
            #expect(try await rig.challenge(device).verdict == "200")
            #expect(try await rig.challenge(device, app: "bare").verdict == "403 INVALID_ATTESTATION")
            // The EK is denied between the challenge and the registration.
            let challenge = try await rig.challenge(device)
            #expect(try await rig.revoke(["ek_id": .string(ek.id.description)]) == "200")
            let message = try await rig.registration(device, challenge)
            #expect(try await rig.post("/v1/device/register", message).verdict == "403 INVALID_ATTESTATION")
            #expect(try await rig.challenge(device).verdict == "403 INVALID_ATTESTATION")
            #expect(try await rig.attest(device, app: "demo").verdict == "403 INVALID_ATTESTATION")
        }
        try await AuthorityRig.with(inventory: [ek.id]) { rig async throws in
            #expect(try await rig.register(device, app: "listed").verdict == "200")
        }
    }

    /// What the configuration denies, by key, by maker, by a list of the issuer's: at all three doors.
    @Test(.endorsedTPM) func whatAnOperatorDenies() async throws {
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
                    #expect(try await rig.attest(device, app: app).verdict == verdict, "\(deny)")
                }
                // Nobody vouches for the words of this certificate, so a lie in it changes nothing.
                let named = try await rig.attest(device, app: "named", chain: [device.chain[0]])
                #expect(named.verdict == verdict, "\(deny)")
            }
        }
    }

    /// If an inventory alone admits, nobody has checked the signature of the EK's certificate: anybody can write its
    /// words.
    @Test(.endorsedTPM) func whatAnUncheckedCertificateSaysIsNotPassedOn() async throws {
        let device = try Device(tpm)
        let ek = try EndorsementKey(unverified: device.chain[0])
        let forged = device.chain[0].replacing(Array("swtpm".utf8), with: Array("Xwtpm".utf8))
        #expect(try EndorsementKey(unverified: forged).model == "Xwtpm")
        #expect(try EndorsementKey(unverified: forged).id == ek.id)
        try await AuthorityRig.with(inventory: [ek.id]) { rig in
            let challenge = try await rig.post(
                "/v1/device/challenge",
                [
                    "app_id": "named", "ek_certificates": [.sent(forged)],
                    "ak_public": .sent(device.ak.publicArea.dataRepresentation),
                ])
            let message = try await rig.registration(device, challenge, app: "named")
            let answer = try await rig.post("/v1/device/register", message)
            #expect(answer.verdict == "200")
            let chain = try SecretAnswer(chain: answer.certificates())
            try chain.verify(for: device.ak.publicArea.publicKey, roots: rig.keys.roots, now: rig.service.now)
            let certificate = chain.chain[0]
            for word in [ek.maker, ek.model, ek.version, "Xwtpm"] {
                #expect(certificate.firstRange(of: Array(word.utf8)) == nil, "\(word)")
            }
        }
    }

    /// The words of the operator's own line go into the certificate, and the operator's denials apply to them.
    @Test(.endorsedTPM) func whatTheInventorySays() async throws {
        let device = try Device(tpm)
        let ek = try EndorsementKey(unverified: device.chain[0])
        let words = #""maker": "id:4F574E00", "model": "rack 7""#
        func certificate(_ rig: AuthorityRig) async throws -> (verdict: String, certificate: [UInt8]?) {
            let offer = try await rig.attest(device, app: "named", chain: [device.chain[0]])
            guard offer.verdict == "200" else { return (offer.verdict, nil) }
            let credential = try AttestAnswer(parsing: offer.body).credential
            let secret = try await device.ak.secret(of: credential, certificate: device.chain[0])
            let answer = await rig.post("/ca/named/secret", try SecretRequest(secret).encoded())
            let chain = try SecretAnswer(parsing: answer.body)
            try chain.verify(for: device.ak.publicArea.publicKey, roots: rig.keys.roots, now: rig.service.now)
            return (answer.verdict, chain.chain[0])
        }
        try await AuthorityRig.with(inventory: [ek.id], words: words) { rig in
            let issued = try #require(try await certificate(rig).certificate)
            // The third word is unknown, and the certificate says so.
            for word in ["id:4F574E00", "rack 7", "id:00000000"] {
                #expect(issued.firstRange(of: Array(word.utf8)) != nil, "\(word)")
            }
            #expect(issued.firstRange(of: Array(ek.version.utf8)) == nil)
        }
        for (denied, verdict) in [
            (#"{"model": "RACK 7"}"#, "403 INVALID_ATTESTATION"), (#"{"model": "rack 8"}"#, "200"),
            // A part of each: neither hides the words of the other.
            (#"{"model": "rack 7", "maker": "id:00001014"}"#, "403 INVALID_ATTESTATION"),
        ] {
            let deny = "{\"models\": [\(denied)]}"
            try await AuthorityRig.with(inventory: [ek.id], words: words, deny: deny) { rig in
                #expect(try await certificate(rig).verdict == verdict, "\(denied)")
                let listed = try await rig.challenge(device, app: "listed")
                #expect(listed.verdict == verdict, "\(denied)")
            }
        }
    }

    /// A key of the NULL hierarchy is gone at the next reset, so an app may require the owner hierarchy. An invented
    /// Name does not pass.
    @Test func theHierarchyOfAKey() async throws {
        try await AuthorityRig.withTPM { rig, tpm in
            let device = try Device(tpm)
            let parent = try #require(device.key.parentName)
            #expect(try await rig.challenge(device, app: "owned").verdict == "400 INVALID_ATTESTATION")
            for size in [0, 33, 35] {
                let name = [UInt8](repeating: 0, count: size)
                let answer = try await rig.challenge(device, app: "owned", parent: name)
                #expect(answer.verdict == "400 INVALID_REQUEST")
            }
            func registered(_ name: [UInt8]?, app: String = "owned") async throws -> AuthorityAnswer {
                let challenge = try await rig.challenge(device, app: app, parent: name)
                let message = try await rig.registration(device, challenge, app: app)
                return try await rig.post("/v1/device/register", message)
            }
            // If the app does not require it, it decides nothing.
            #expect(try await registered(device.ak.name, app: "demo").verdict == "200")
            for other in [device.ak.name, device.key.name, [0, 0x0b] + [UInt8](repeating: 0, count: 32)] {
                let other = try await registered(other)
                #expect(other.verdict == "400 INVALID_ATTESTATION")
            }
            let fresh = try Device(tpm)
            let challenge = try await rig.challenge(fresh, app: "owned", parent: parent)
            let message = try await rig.registration(fresh, challenge, app: "owned")
            let answer = try await rig.post("/v1/device/register", message)
            #expect(answer.verdict == "200")
            let id = try #require(answer.json["device_id"]?.string)
            // A rotation does not get around it.
            let next = try await TPM.PrivateKey(in: tpm)
            for (name, verdict) in [
                (nil, "400 INVALID_ATTESTATION"), (fresh.ak.name, "400 INVALID_ATTESTATION"), (parent, "200"),
            ] as [([UInt8]?, String)] {
                let more = name.map { ["parent_name": JSON.sent($0)] } ?? [:]
                let answer = try await rig.rotate(fresh, "owned", id, to: next, by: fresh.ak, more: more)
                #expect(answer.verdict == verdict)
            }
        }
    }

    @Test func byTheAttestationCA() async throws {
        try await AuthorityRig.withTPM { rig, tpm in
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
            // A challenge without a credential never takes an activation (decision: never-weaker).
            #expect(try await verdict(chain, activation: "AAAA").verdict == "400 INVALID_ATTESTATION")
            // A certificate is good for one app (decision: own-ak), and so is none at all.
            #expect(try await verdict(others).verdict == "403 INVALID_ATTESTATION")
            #expect(try await verdict([]).verdict == "400 INVALID_ATTESTATION")
            try await AuthorityRig.with { foreign in
                let certificates = try await foreign.certificates(device, app: "demo")
                #expect(try await verdict(certificates).verdict == "403 INVALID_ATTESTATION")
            }
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

    /// What the callback of a runtime gives, in the place where the runtime sends it.
    @Test func byTheCallbackOfARuntime() async throws {
        try await AuthorityRig.withTPM { rig, tpm in
            let device = try Device(tpm)
            let chain = try await rig.certificates(device, app: "demo")
            func verdict(
                _ attestation: (_ blob: String) -> JSON, proof: JSON? = nil
            ) async throws -> String {
                let plain = try await rig.post("/v1/device/challenge", ["app_id": "demo"])
                let challenge = try #require(plain.json["challenge"]?.string)
                let text = try await rig.proof(device, challenge, certificates: chain)
                var message: [String: JSON] = [
                    "app_id": "demo", "challenge": .string(challenge), "public_key": .string(device.keyText),
                    "attestation": attestation(TextEncoding.base64.encode(try TextEncoding.base64url.decode(text))),
                ]
                message["proof"] = proof
                return try await rig.post("/v1/device/register", message).verdict
            }
            let good = { (blob: String) -> JSON in ["format": "tpm2", "blob": .string(blob)] }
            for (attestation, expected) in [
                (["format": "none", "blob": "", "reason": "transient"], "403 INVALID_ATTESTATION"),
                (["format": "apple-app-attest", "blob": "AAAA"], "400 INVALID_REQUEST"),
                (["format": "tpm2"], "400 INVALID_REQUEST"), ("a token", "400 INVALID_REQUEST"),
                (["format": "tpm2", "blob": "AAAA"], "400 INVALID_ATTESTATION"),
            ] as [(JSON, String)] { #expect(try await verdict({ _ in attestation }) == expected, "\(attestation)") }
            #expect(try await verdict(good, proof: "none") == "400 INVALID_REQUEST")
            #expect(try await verdict({ good("AAAA" + $0.dropFirst(4)) }) == "400 INVALID_ATTESTATION")
            #expect(try await verdict(good) == "200")
        }
    }

    /// A certificate of an attestation CA is for one app, and a secret works once, wherever it is sent. The
    /// certificates of a CA whose key is in a TPM are just as valid (decision: authority-keys).
    @Test(.endorsedTPM) func theKeyOfTheCAInATPM() async throws {
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

    @Test func theSecretOfAnotherApp() async throws {
        try await AuthorityRig.withTPM { rig, tpm in
            let device = try Device(tpm)
            let offer = try await rig.attest(device, app: "demo")
            let credential = try AttestAnswer(parsing: offer.body).credential
            let secret = try await device.ak.secret(of: credential, certificate: device.chain[0])
            let body = try SecretRequest(secret).encoded()
            // A secret is not a challenge, and a challenge is not a secret.
            let text = TextEncoding.base64.encode(secret.withBytes { span in span.indices.map { span[$0] } })
            let message: [String: JSON] = [
                "app_id": "demo", "challenge": .string(text), "public_key": .string(device.keyText),
            ]
            #expect(try await rig.post("/v1/device/register", message).verdict == "400 INVALID_CHALLENGE")
            #expect(await rig.post("/ca/other/secret", body).verdict == "400 INVALID_CHALLENGE")
            #expect(await rig.post("/ca/demo/secret", body).verdict == "400 INVALID_CHALLENGE")
            let claimed = AttestRequest(
                ekCertificates: device.chain, ak: device.ak.publicArea.dataRepresentation,
                ek: device.key.publicKey.derRepresentation)
            #expect(
                await rig.post("/ca/demo/attest", try claimed.encoded()).verdict == "400 INVALID_ATTESTATION")
        }
    }

    /// The machine is in other hands, so all devices of its TPM are revoked in every app; a preview changes nothing.
    @Test func aCompromisedMachine() async throws {
        try await AuthorityRig.withTPM { rig, tpm in
            func registered(_ app: String) async throws -> (Device, String) {
                let device = try Device(tpm)
                let answer = try await rig.register(device, app: app)
                return (device, try #require(answer.json["device_id"]?.string))
            }
            let (one, first) = try await registered("demo")
            let (two, second) = try await registered("other")
            let spare = try Device(tpm)
            let early = try await rig.challenge(spare)
            func verdicts() async throws -> [String] {
                var verdicts: [String] = []
                for (device, app, id) in [(one, "demo", first), (two, "other", second)] {
                    verdicts.append(try await rig.signed(device.key, app, id, "GET", "/v1/echo").verdict)
                }
                return verdicts
            }
            func ask(_ members: [String: JSON]) async throws -> AuthorityAnswer {
                var all: [String: JSON] = ["app_id": "demo", "device_id": .string(first), "compromised": true]
                all.merge(members) { $1 }
                let body = try JSON.members(all).encoded()
                return await rig.service.answer(
                    AuthorityRequest(method: "POST", target: "/v1/revoke", body: body), at: .admin)
            }
            let looked = try await ask(["dry_run": true])
            #expect(try await verdicts() == ["200", "200"])
            let done = try await ask([:])
            for answer in [looked, done] {
                let listed = answer.json["devices"]?.array ?? []
                #expect(listed.map { $0["device_id"]?.string } == [first, second])
                #expect(listed.map { $0["app_id"]?.string } == ["demo", "other"])
                #expect(answer.json["tpm"]?.string == "denied")
            }
            let revoked = "403 DEVICE_REVOKED"
            #expect(try await verdicts() == [revoked, revoked])
            let rotated = try await rig.rotate(two, "other", second, to: spare.key, by: nil)
            #expect(rotated.verdict == revoked)
            // Nor can a new device register, with a challenge from before or after.
            let message = try await rig.registration(spare, early)
            #expect(try await rig.post("/v1/device/register", message).verdict == "403 INVALID_ATTESTATION")
            #expect(try await rig.challenge(spare, app: "other").verdict == "403 INVALID_ATTESTATION")
        }
    }

    /// A new key is refused unless the same AK certifies it.
    @Test func rotation() async throws {
        try await AuthorityRig.withTPM { rig, tpm in
            let device = try Device(tpm)
            let answer = try await rig.register(device)
            let id = try #require(answer.json["device_id"]?.string)
            let next = try await TPM.PrivateKey(in: tpm)
            let other = try await TPM.AttestationKey(beside: next)
            func verdict(_ ak: TPM.AttestationKey?, origin: String = "https://localhost") async throws -> String {
                try await rig.rotate(device, "demo", id, to: next, by: ak, origin: origin).verdict
            }
            #expect(try await verdict(nil) == "400 INVALID_ATTESTATION")
            #expect(try await verdict(other) == "400 INVALID_ATTESTATION")
            #expect(try await verdict(device.ak, origin: "https://evil.example") == "400 INVALID_ATTESTATION")
            #expect(try await rig.signed(device.key, "demo", id, "GET", "/v1/device/self").verdict == "200")
            #expect(try await verdict(device.ak) == "200")
            // The same again, as after a lost answer: nothing changes, so no proof is needed.
            #expect(try await verdict(nil) == "200")
            #expect(try await rig.signed(next, "demo", id, "GET", "/v1/echo").verdict == "200")
            let stored = try #require(try await rig.stores.devices.device(app: "demo", id: id))
            #expect(stored.level == .attested && stored.publicKey == next.publicKey)
        }
    }

    /// A rotation by another AK of the same EK with a live certificate for the same app; or without a proof, if the
    /// app's record says to mark the device.
    @Test(arguments: [
        ("demo", "demo" as String?, EndorsementKey.Kind.p384, "200", TenonAuthority.Device.Level.attested, false),
        ("demo", "demo", .p384, "403 INVALID_ATTESTATION", .attested, true),
        ("demo", "other", .p384, "403 INVALID_ATTESTATION", .attested, false),
        ("demo", "demo", .rsa2048, "403 INVALID_ATTESTATION", .attested, false),
        ("marked", nil, .p384, "200", .unattested, false),
    ])
    func rotationByACertificateOrMarked(
        _ app: String, _ certifier: String?, _ kind: EndorsementKey.Kind, _ verdict: String,
        _ level: TenonAuthority.Device.Level, _ isDenied: Bool
    ) async throws {
        try await AuthorityRig.withTPM { rig, tpm in
            let device = try Device(tpm)
            let id = try #require(try await rig.register(device, app: app).json["device_id"]?.string)
            let next = try await TPM.PrivateKey(in: tpm)
            let second = try Device(tpm, kind)
            var certificates: [[UInt8]] = []
            if let certifier { certificates = try await rig.certificates(second, app: certifier) }
            let ek = try EndorsementKey(unverified: second.chain[0])
            // Its certificates have ended; its devices stay.
            if isDenied { #expect(try await rig.revoke(["ek_id": .string(ek.id.description)]) == "200") }
            let answer = try await rig.rotate(
                device, app, id, to: next, by: certifier == nil ? nil : second.ak, certificates: certificates)
            #expect(answer.verdict == verdict)
            let stored = try #require(try await rig.stores.devices.device(app: app, id: id))
            #expect(stored.level == level && (stored.publicKey == next.publicKey) == (verdict == "200"))
        }
    }
}

extension AuthorityEngine {
    fileprivate var now: Int64 { SteadyClock().now().seconds }
}
