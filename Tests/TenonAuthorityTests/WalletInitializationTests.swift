// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import TenonAuthorityITWallet
import TestEvidence
import Testing

/// `GET /nonce` and the initialization of IT-Wallet, as the provider. Names begin with the ids of the test matrix.
@Suite struct WalletInitializationTests {
    private var rig: WalletRig { .current }

    @Test("WP_135 WP_137: a valid initialization is confirmed with 204, and tag, key and TPM are stored", .wallet)
    func confirmed() async throws {
        let nonce = await rig.ask("GET", "/it-wallet/wallet/nonce")
        #expect(nonce.status == 200 && nonce.header("Content-Type") == "application/json")
        #expect(nonce.header("Cache-Control") == "no-store" && nonce.json.object?.members.map(\.key) == ["nonce"])
        #expect(try await rig.nonce() != nonce.json["nonce"]?.string)
        for (path, member) in [
            ("application-instances", "key_attestation"), ("instance-initialization", "key_attestation"),
            ("instance-initialization", "integrity_assertion"),
        ] {
            let device = try await rig.device()
            let answer = try await rig.initialize(device, path: path) { members in
                members[member] = members.removeValue(forKey: "key_attestation")
            }
            #expect(answer.status == 204 && answer.body.isEmpty && answer.header("Cache-Control") == "no-store")
            let stored = try #require(try await rig.stores.devices.device(app: "wallet", id: device.tag))
            #expect(stored.publicKey == device.key.publicKey && stored.level == .attested)
            #expect(stored.platform == "id:53544D20 ST33 id:00010102" && stored.akSerial == device.serial)
        }
    }

    @Test("WP_135a WP_150: a nonce that is foreign, used, expired or another app's is refused", .wallet)
    func nonces() async throws {
        let device = try await rig.device()
        let used = try await rig.nonce()
        #expect(try await rig.initialize(device, nonce: used).wallet == "204")
        #expect(try await rig.initialize(device, nonce: used).wallet == "403 invalid_request")
        for foreign in ["d2JhY2NhbG91cmVqdWFuZGFt", "a", try await rig.nonce("other")] {
            #expect(try await rig.initialize(device, nonce: foreign).wallet == "403 invalid_request")
        }
        let late = try await rig.nonce()
        rig.clock.advance(90_000)
        #expect(try await rig.initialize(device, nonce: late).wallet == "403 invalid_request")
        // A failure spends it, too.
        let failed = try await rig.nonce()
        let broken = try await rig.initialize(device, nonce: failed) { $0["key_attestation"] = "AAAA" }
        #expect(broken.wallet == "403 invalid_request")
        #expect(try await rig.initialize(device, nonce: failed).wallet == "403 invalid_request")
    }

    /// Of many requests with one nonce, or with one tag, one is an instance.
    @Test(.wallet, arguments: [("nonce", 100), ("tag", 16)])
    func oneOfManyWins(_ shared: String, _ count: Int) async throws {
        let (nonce, tag) = (try await rig.nonce(), TextEncoding.base64url.encode([UInt8](random: 32)))
        var devices: [WalletDevice] = []
        for number in 0..<count { devices.append(try await rig.device(ek: "EK \(number)")) }
        if shared == "tag" { for index in devices.indices { devices[index].tag = tag } }
        let all = devices
        let words = try await atOnce(count) { index in
            try await rig.initialize(all[index], nonce: shared == "nonce" ? nonce : nil).wallet
        }
        #expect(words.count { $0 == "204" } == 1)
        #expect(words.count { $0 == "403 invalid_request" } == count - 1)
        let stored = try await rig.stores.devices.devices(app: "wallet", from: nil, limit: 200).devices
        #expect(stored.count == 1)
    }

    @Test("WP_136: a nonce, a key or a tag that is swapped alone is refused", .wallet)
    func swaps() async throws {
        let (device, other) = (try await rig.device(), try await rig.device())
        let tag = try await rig.initialize(device) { $0["hardware_key_tag"] = .string(other.tag) }
        #expect(tag.wallet == "403 invalid_request")
        let (first, second) = (try await rig.nonce(), try await rig.nonce())
        let nonce = try await rig.initialize(device, nonce: first) { $0["nonce"] = .string(second) }
        #expect(nonce.wallet == "403 invalid_request")
        // The client data names another key than the one that is certified.
        let key = try await rig.initialize(device) { members in
            let digest = try WalletDevice.clientData(
                nonce: members["nonce"]?.string ?? "", tag: device.tag, key: other.key.publicKey)
            members["key_attestation"] = .string(try device.proof(over: digest))
        }
        #expect(key.wallet == "403 invalid_request")
        let stored = try await rig.stores.devices.devices(app: nil, from: nil, limit: 9).devices
        #expect(stored.isEmpty)
        #expect(try await rig.initialize(device).wallet == "204")
    }

    @Test("WP_014b WP_135b WP_151: a key that may leave its TPM, and one of no TPM of ours, is refused", .wallet)
    func attestations() async throws {
        let device = try await rig.device()
        let stranger = try await WalletRig.stranger(to: device)
        for (name, fault) in Self.faults(stranger) {
            let answer = try await rig.initialize(device) { members in
                let digest = try WalletDevice.clientData(
                    nonce: members["nonce"]?.string ?? "", tag: device.tag, key: device.key.publicKey)
                members["key_attestation"] = .string(try fault(device, digest))
            }
            #expect(answer.wallet == "403 invalid_request", "\(name)")
        }
        #expect(try await rig.stores.devices.devices(app: nil, from: nil, limit: 9).devices.isEmpty)
    }

    private typealias Fault = (WalletDevice, Digest) throws -> String

    private static func faults(_ stranger: WalletDevice) -> [(String, Fault)] {
        [
            ("a key that may leave the TPM", { try $0.proof(over: $1) { $0.attributes = 0x0004_0460 } }),
            ("a software statement", { try $0.proof(over: $1) { $0.magic = 0 } }),
            ("another CA's certificate", { _, digest in try stranger.proof(over: digest) }),
            ("no certificate", { try $0.proof(over: $1) { $0.certificates = [] } }),
            ("the certificate of another AK", { try $0.with(ak: stranger.ak).proof(over: $1) }),
            ("no text of base64url", { _, _ in "?" }), ("standard base64", { try $0.proof(over: $1) + "=" }),
            ("nothing", { _, _ in "" }),
        ]
    }

    @Test("WP_135b WP_040: a device that is denied, or whose certificate is not live, is below the minimum", .wallet)
    func minimum() async throws {
        // Another app's certificate, a revoked one, one that was never recorded here.
        let foreign = try await rig.device("other")
        #expect(try await rig.initialize(foreign).wallet == "403 integrity_check_error")
        let device = try await rig.device()
        _ = try await rig.stores.devices.revoke(
            .certificate(serial: device.serial), reason: "test", at: rig.clock.now())
        #expect(try await rig.initialize(device).wallet == "403 integrity_check_error")
        let denied = try await rig.device(ek: "denied")
        _ = try await rig.stores.devices.revoke(.ek(denied.ek), reason: "test", at: rig.clock.now())
        #expect(try await rig.initialize(denied).wallet == "403 integrity_check_error")
        // The certificate has expired: the device can get another.
        let late = try await rig.device()
        rig.clock.advance(86_401_000)
        #expect(try await rig.initialize(late).wallet == "403 invalid_request")
    }

    /// A tag has one key and a key one tag; the same two again are the same instance (decision: tag-is-id).
    @Test(.wallet) func theSameAgain() async throws {
        let device = try await rig.initialized()
        #expect(try await rig.initialize(device).wallet == "204")
        var other = try await rig.device()
        other.tag = device.tag
        #expect(try await rig.initialize(other).wallet == "403 invalid_request")
        var renamed = device
        renamed.tag = TextEncoding.base64url.encode([UInt8](random: 32))
        #expect(try await rig.initialize(renamed).wallet == "403 invalid_request")
        // The tag is taken in each app of the authority.
        var elsewhere = try await rig.device("other")
        elsewhere.tag = device.tag
        #expect(try await rig.initialize(elsewhere, app: "other").wallet == "403 invalid_request")
        // A padded tag is the same tag, and the client data has it as it was sent.
        var padded = device
        padded.tag += "="
        #expect(try await rig.initialize(padded).wallet == "204")
        let stored = try await rig.stores.devices.devices(app: nil, from: nil, limit: 9).devices
        #expect(stored.map(\.id) == [device.tag])
    }

    /// After another initialization the attestation key of that one speaks for the instance.
    @Test(.wallet) func anotherAttestationKey() async throws {
        let (old, fresh) = (try await rig.initialized(), try await rig.device())
        var device = fresh
        (device.key, device.tag) = (old.key, old.tag)
        #expect(try await rig.initialize(device).wallet == "204")
        #expect(try await rig.use("rp-kb+jwt", device).wallet == "204")
        #expect(try await rig.use("rp-kb+jwt", old).wallet == "403 invalid_request")
    }

    /// The body has exactly its three members, each a text. A malformed one does not spend the nonce.
    @Test(.wallet) func forms() async throws {
        let device = try await rig.device()
        let nonce = try await rig.nonce()
        let good = try device.initialization(nonce: nonce)
        for (name, value) in [
            ("nonce", nil), ("key_attestation", nil), ("hardware_key_tag", nil), ("extra", "x"), ("nonce", 7),
            ("nonce", ""), ("nonce", .string(String(repeating: "n", count: 201))), ("nonce", "a\0"),
            ("key_attestation", [good["key_attestation"] ?? .null]), ("key_attestation", .null),
            ("integrity_assertion", "AAAA"), ("hardware_key_tag", "AAAA"), ("hardware_key_tag", "a/b"),
            ("hardware_key_tag", .string(device.tag + "==")), ("hardware_key_tag", .string(device.tag + "AA")),
        ] as [(String, JSON?)] {
            let answer = try await rig.initialize(device, nonce: nonce) { $0[name] = value }
            #expect(answer.wallet == "400 bad_request", "\(name): \(value?.string ?? "")")
            #expect(answer.json["error_description"]?.string?.isEmpty == false)
            #expect(answer.header("Cache-Control") == "no-store")
        }
        let twice = String(decoding: try JSON.members(good).encoded(), as: UTF8.self)
            .replacing("{\"hardware", with: "{\"nonce\":\"a\",\"hardware")
        for (text, status) in [(twice, "400"), ("[]", "400"), ("", "400"), (twice + "x", "400")] {
            let answer = await rig.ask("POST", "/it-wallet/wallet/application-instances", Array(text.utf8))
            #expect(answer.wallet == "\(status) bad_request")
        }
        let large = [UInt8](repeating: 0x20, count: 32_769)
        let answer = await rig.ask("POST", "/it-wallet/wallet/application-instances", large)
        #expect(answer.wallet == "413 bad_request")
        #expect(try await rig.initialize(device, nonce: nonce).wallet == "204")
    }

    /// The engine's own refusals have the words of the specification.
    @Test(.wallet) func theEngineRefusesInItsForm() async throws {
        for (method, path, words) in [
            ("GET", "none", "404 not_found"), ("POST", "nonce", "405 bad_request"),
            ("GET", "application-instances", "405 bad_request"),
        ] {
            let answer = await rig.ask(method, "/it-wallet/wallet/" + path)
            #expect(answer.wallet == words && answer.header("Content-Type") == "application/json", "\(path)")
        }
        #expect(await rig.ask("GET", "/it-wallet/nobody/nonce").wallet == "404 not_found")
        // An app of another service has no such path.
        #expect(await rig.ask("GET", "/it-wallet/open/nonce").wallet == "404 not_found")
    }

    /// Sent from different addresses, because one may have only its share of so few.
    @Test func tooManyNonces() async throws {
        try await WalletRig.with(challenges: 3) { rig in
            for (index, words) in ["200", "200", "200", "503 temporarily_unavailable"].enumerated() {
                let answer = await rig.engine.ask("GET", "/it-wallet/wallet/nonce", peer: "198.51.100.\(index)")
                #expect(answer.wallet == words && (answer.header("Retry-After") != nil) == (index == 3))
            }
        }
    }

    /// Settings that no instance could meet are mistakes.
    @Test(arguments: [
        #""require_attestation": false"#, #""registration": "approve""#, #""require_owner_hierarchy": true"#,
        #""allow_development": true"#, #""max_key_age_days": 9"#, #""dialects": ["tenon"]"#,
    ])
    func settings(_ member: String) async throws {
        let name = member.split(separator: "\"")[0]
        await expectError(String(name)) { try WalletRig.configuration(", " + member) }
    }
}

extension WalletRig {
    /// A device with the same key, whose attestation key another CA has certified.
    static func stranger(to device: WalletDevice) async throws -> WalletDevice {
        var stranger = device
        stranger.ak = try SoftwareKey(signsDigests: true)
        stranger.certificates = try WalletDevice.certificates(of: stranger.ak, by: ServiceRig.makeKeys()).chain
        return stranger
    }
}
