// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import TenonAuthorityITWallet
import Testing

/// The requests of IT-Wallet that use the hardware key, as the provider.
@Suite struct WalletAssertionTests {
    private var rig: WalletRig { .current }

    private static let types = WalletRig.uses.keys.sorted()

    @Test("WP_028 WP_029 WP_029a WP_029b WP_144: an attestation is a JWT of at most 24 h, without data of a person")
    func attestations() async throws {
        try await WalletRig.with { rig in
            let device = try await rig.initialized()
            for (type, member) in [
                ("wia-request+jwt", "wallet_instance_attestation"), ("wp-war+jwt", "wallet_attestations"),
            ] {
                let answer = try await rig.use(type, device)
                #expect(answer.wallet == "200" && answer.header("Content-Type") == "application/json")
                #expect(answer.header("Cache-Control") == "no-store")
                let value = try #require(answer.json[member])
                let list = value.array?.first
                #expect(type == "wia-request+jwt" || list?["format"] == "jwt")
                let token = try #require(value.string ?? list?["wallet_attestation"]?.string)
                let (header, claims) = try await rig.verified(token)
                #expect(header["typ"] == "oauth-client-attestation+jwt")
                let times = [claims["iat"]?.integer ?? 0, claims["exp"]?.integer ?? 0]
                #expect(times[0] == rig.clock.now().seconds && 1...86_400 ~= times[1] - times[0])
                #expect(claims["iss"]?.string == WalletRig.origin + "/it-wallet/wallet")
                let allowed: Set = [
                    "cnf", "exp", "iat", "iss", "platform", "sub", "wallet_solution_id", "wallet_solution_version",
                ]
                let names = Set(claims.object?.members.map(\.key) ?? [])
                #expect(names.isSubset(of: allowed))
            }
        }
    }

    @Test(.wallet) func theKeyIsThatOfTheRequest() async throws {
        let device = try await rig.initialized()
        for (type, member) in [
            ("wua-request+jwt", "wallet_unit_attestation"), ("ka-request+jwt", "key_attestation"),
            ("wia-request+jwt", "wallet_instance_attestation"),
        ] {
            var jwk = JSON.null
            let answer = try await rig.use(type, device) { jwk = WalletAssertion.jwk($0.key.publicKey) }
            #expect(answer.wallet == "200", "\(answer.json["error_description"]?.string ?? "")")
            let (header, claims) = try await rig.verified(try #require(answer.json[member]?.string))
            #expect(claims["cnf"]?["jwk"] == jwk)
            guard type != "wia-request+jwt" else { continue }
            #expect(header["typ"] == "key-attestation+jwt" && claims["attested_keys"]?.array == [jwk])
            #expect(claims["key_storage_info"]?["keys_exportable"] == false)
            let life = (claims["exp"]?.integer ?? 0) - (claims["iat"]?.integer ?? 0)
            #expect(life >= 30 * 86_400)
        }
        #expect(try await rig.use("rp-kb+jwt", device).wallet == "204")
    }

    @Test("WP_140 WP_140f WP_143a: each header and each claim is required", .wallet)
    func parts() async throws {
        let device = try await rig.initialized()
        for type in Self.types {
            let sample = try WalletAssertion(type, device, nonce: "n", at: rig.clock.now().seconds)
            for name in sample.claims.keys.sorted() {
                let answer = try await rig.use(type, device, nonce: "n") { $0.claims[name] = nil }
                #expect(answer.wallet == "400 bad_request", "\(type) without \(name)")
            }
            for (name, value) in [
                ("alg", nil), ("alg", "none"), ("alg", "HS256"), ("alg", "ES384"), ("kid", nil), ("typ", nil),
                ("typ", "JWT"), ("crit", ["exp"]), ("crit", ""),
            ] as [(String, JSON?)] {
                let answer = try await rig.use(type, device, nonce: "n") { $0.header[name] = value }
                #expect(answer.wallet == "400 bad_request", "\(type) \(name)")
            }
        }
        let token = try WalletAssertion("wia-request+jwt", device, nonce: "n", at: rig.clock.now().seconds)
            .encoded()
        for text in ["", ".", "..", "a.b.c", token + ".", token + "=", String(token.dropLast(4)), "." + token] {
            #expect(
                try await rig.send(text, to: "wallet-instance-attestations").wallet == "400 bad_request", "\(text)")
        }
        let extra: JSON = ["assertion": .string(token), "extra": 1]
        let answer = await rig.ask(
            "POST", "/it-wallet/wallet/wallet-instance-attestations", try extra.encoded())
        #expect(answer.wallet == "400 bad_request")
    }

    @Test("WP_143b: the request is signed by the key in cnf, which kid names", .wallet)
    func signatures() async throws {
        let (device, other) = (try await rig.initialized(), try SoftwareKey(signsDigests: true))
        for type in Self.types {
            for (name, change) in [
                ("another signer", { $0.signer = other }),
                ("another kid", { $0.header["kid"] = .string(try other.publicKey.thumbprint) }),
                ("another cnf", { $0.claims["cnf"] = ["jwk": WalletAssertion.jwk(other.publicKey)] }),
            ] as [(String, (inout WalletAssertion) throws -> Void)] {
                let answer = try await rig.use(type, device, change)
                #expect(answer.wallet == "403 invalid_request", "\(type): \(name)")
            }
        }
        // 32 bytes that are no point of the curve.
        let point = TextEncoding.base64url.encode([UInt8](repeating: 1, count: 32))
        let none = try await rig.use("rp-kb+jwt", device) {
            $0.claims["cnf"] = ["jwk": ["kty": "EC", "crv": "P-256", "x": .string(point), "y": .string(point)]]
        }
        #expect(none.wallet == "403 invalid_request")
        let secret = try await rig.use("rp-kb+jwt", device) { assertion in
            guard case .object(var jwk) = WalletAssertion.jwk(assertion.key.publicKey) else { return }
            jwk["d"] = .string(point)
            assertion.claims["cnf"] = ["jwk": .object(jwk)]
        }
        #expect(secret.wallet == "400 bad_request")
    }

    @Test("WP_143c WP_140b: a nonce is good for one request", .wallet)
    func nonces() async throws {
        let device = try await rig.initialized()
        let used = try await rig.nonce()
        #expect(try await rig.use("rp-kb+jwt", device, nonce: used).wallet == "204")
        for nonce in [used, "foreign", try await rig.nonce("other")] {
            #expect(try await rig.use("wia-request+jwt", device, nonce: nonce).wallet == "403 invalid_request")
        }
        let late = try await rig.nonce()
        rig.clock.advance(90_000)
        #expect(try await rig.use("rp-kb+jwt", device, nonce: late).wallet == "403 invalid_request")
        // A failure spends it.
        let spent = try await rig.nonce()
        let failed = try await rig.use("rp-kb+jwt", device, nonce: spent) { $0.signer = device.key }
        #expect(failed.wallet == "403 invalid_request")
        #expect(try await rig.use("rp-kb+jwt", device, nonce: spent).wallet == "403 invalid_request")
    }

    @Test("WP_143d WP_152 WP_153 WP_010: the instance is known and not revoked", .wallet)
    func instances() async throws {
        let stranger = try await rig.device()
        let device = try await rig.initialized()
        for type in Self.types {
            #expect(try await rig.use(type, stranger).wallet == "404 not_found", "\(type)")
        }
        _ = try await rig.portal("PATCH", "wallet-instances/" + device.tag, ["status": "REVOKED"])
        for type in Self.types {
            #expect(try await rig.use(type, device).wallet == "403 invalid_request", "\(type)")
        }
    }

    @Test("WP_143e WP_140d WP_154: the hardware signature is by the registered key, over nonce and thumbprint")
    func hardwareSignatures() async throws {
        try await WalletRig.with { rig in
            let (device, other) = (try await rig.initialized(), try await rig.initialized())
            for type in Self.types {
                var changed = device
                changed.key = other.key
                #expect(try await rig.use(type, changed).wallet == "403 invalid_request", "\(type)")
                let foreign = try WalletAssertion(type, device, nonce: "n", at: rig.clock.now().seconds)
                let swapped = try await rig.use(type, device) {
                    $0.claims["hardware_signature"] = foreign.claims["hardware_signature"]
                }
                #expect(swapped.wallet == "403 invalid_request", "\(type)")
            }
            // r and s without DER are not the form, and neither is the digest's digest.
            let raw = try await rig.use("rp-kb+jwt", device) { assertion in
                let der = try TextEncoding.base64url.decode(assertion.claims["hardware_signature"]?.string ?? "")
                let signature = try Signature(derRepresentation: der)
                assertion.claims["hardware_signature"] = .string(
                    TextEncoding.base64url.encode(signature.rawRepresentation))
            }
            #expect(raw.wallet == "403 invalid_request")
            #expect(try await rig.use("rp-kb+jwt", device, doubled: true).wallet == "403 invalid_request")
        }
        try await WalletRig.with(#", "double_hash": true"#) { rig in
            let device = try await rig.initialized()
            #expect(try await rig.use("rp-kb+jwt", device, doubled: true).wallet == "204")
            #expect(try await rig.use("rp-kb+jwt", device).wallet == "403 invalid_request")
        }
    }

    @Test("WP_143f WP_155: the integrity assertion is a quote by the instance's AK, for this request", .wallet)
    func quotes() async throws {
        let (device, other) = (try await rig.initialized(), try await rig.initialized())
        let nonce = try Digest(hashing: [1])
        for (name, change) in [
            ("another AK", { $0.ak = other.ak }), ("another nonce", { $0.nonce = nonce }),
            ("other PCRs", { $0.selection = [0xfe, 0, 0] }), ("more PCRs", { $0.selection = [0xff, 1, 0] }),
            ("no PCRs", { $0.selection = [0, 0, 0] }), ("a certified key", { $0.type = [0x80, 0x17] }),
            ("no TPM", { $0.magic = [0, 0, 0, 0] }),
        ] as [(String, (inout QuoteRig) -> Void)] {
            let answer = try await rig.use("wia-request+jwt", device, quote: change)
            #expect(answer.wallet == "403 invalid_request", "\(name)")
        }
        for text in ["AAAA", "oQ"] {
            let answer = try await rig.use("rp-kb+jwt", device) { $0.claims["integrity_assertion"] = .string(text) }
            #expect(answer.wallet == "403 invalid_request")
        }
    }

    @Test("WP_027: a device whose PCRs are not accepted, or whose TPM was denied since, gets nothing")
    func minimum() async throws {
        let accepted = try Digest(rawRepresentation: [UInt8](repeating: 7, count: 32))
        try await WalletRig.with(", \"pcrs\": [0, 7], \"pcr_digests\": [\"\(accepted)\"]") { rig in
            let device = try await rig.initialized()
            for (value, words) in [(7, "200"), (8, "403 integrity_check_error")] as [(UInt8, String)] {
                let values = [UInt8](repeating: value, count: 32)
                let answer = try await rig.use(
                    "wia-request+jwt", device, quote: { ($0.selection, $0.values) = ([0x81, 0, 0], values) })
                #expect(answer.wallet == words)
            }
        }
        try await WalletRig.with { rig in
            let (denied, revoked) = (try await rig.initialized(), try await rig.device(ek: "another"))
            #expect(try await rig.initialize(revoked).wallet == "204")
            let now = rig.clock.now()
            _ = try await rig.stores.devices.revoke(.certificate(serial: revoked.serial), reason: "test", at: now)
            #expect(try await rig.use("wia-request+jwt", revoked).wallet == "403 integrity_check_error")
            _ = try await rig.stores.devices.revoke(.ek(denied.ek), reason: "test", at: now)
            #expect(try await rig.use("wia-request+jwt", denied).wallet == "403 integrity_check_error")
        }
    }

    @Test("WP_143g: iss is the instance, aud is this provider, and the request is of now", .wallet)
    func names() async throws {
        let (device, other) = (try await rig.initialized(), try await rig.initialized())
        let now = rig.clock.now().seconds
        for type in Self.types {
            for (name, value) in [
                ("iss", .string(other.tag)), ("iss", "x"), ("aud", "https://other.example"),
                ("iat", .integer(now - 301)), ("iat", .integer(now + 301)), ("exp", .integer(now)),
                ("exp", .integer(now - 1)), ("hardware_key_tag", .string(other.tag)),
            ] as [(String, JSON)] {
                let answer = try await rig.use(type, device) { $0.claims[name] = value }
                #expect(answer.wallet == "403 invalid_request", "\(type) \(name)")
            }
            let past = try await rig.use(type, device) { assertion in
                assertion.claims["iat"] = .integer(now - 100)
                assertion.claims["exp"] = .integer(now - 1)
            }
            #expect(past.wallet == "403 invalid_request", "\(type) has expired")
            let bare = try await rig.use(type, device) { assertion in
                assertion.claims["aud"] = .string(WalletRig.origin)
                guard type == "wp-war+jwt" else { return }
                assertion.claims["iss"] = .string("\(WalletRig.origin)/\(try assertion.key.publicKey.thumbprint)")
            }
            #expect(bare.status < 300, "\(type)")
        }
    }
}
