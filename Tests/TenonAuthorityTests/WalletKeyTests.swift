// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import Testing

@testable import TenonAuthorityITWallet

/// The keys for which the provider of IT-Wallet issues attestations, and its own.
@Suite struct WalletKeyTests {
    private var rig: WalletRig { .current }

    /// The key that is attested is the one of the request, and its proof is by the AK of the instance.
    @Test(.wallet) func attestedKeys() async throws {
        let (device, other) = (try await rig.initialized(), try await rig.initialized())
        let elsewhere = try await rig.device("other", ak: device.ak)
        let now = rig.clock.now().seconds
        for type in ["wua-request+jwt", "ka-request+jwt"] {
            let foreign = try WalletAssertion(type, device, nonce: "n", at: now)
            let element = try #require(foreign.claims["keys_to_attest"]?.array?.first)
            for (name, value, words) in [
                ("another request's", [element], "403 invalid_request"), ("none", [], "422 validation_error"),
                ("text", "x", "400 bad_request"), ("no JWS", ["x"], "400 bad_request"),
            ] as [(String, JSON, String)] {
                let answer = try await rig.use(type, device) { $0.claims["keys_to_attest"] = value }
                #expect(answer.wallet == words, "\(type) \(name)")
            }
            let two = try await rig.use(type, device) { assertion in
                let one = assertion.claims["keys_to_attest"]?.array ?? []
                assertion.claims["keys_to_attest"] = .array(one + one)
            }
            #expect(two.wallet == "422 validation_error")
            // The last two are right in all but the attestation key, or the app that it is certified for.
            for (name, ak, data, words) in [
                ("other data", device, "other", "invalid_request"), ("another AK", other, nil, "invalid_request"),
                ("another app's AK", elsewhere, nil, "integrity_check_error"),
            ] as [(String, WalletDevice, String?, String)] {
                let nonce = try await rig.nonce()
                let answer = try await rig.use(type, device, nonce: nonce) { assertion in
                    let thumbprint = try assertion.key.publicKey.thumbprint
                    let digest = try WalletAssertion.clientData(type, nonce: data ?? nonce, thumbprint)
                    let key = try assertion.attested(over: digest, at: now, by: ak)
                    assertion.claims["keys_to_attest"] = [.string(key)]
                }
                #expect(answer.wallet == "403 \(words)", "\(type) \(name)")
            }
        }
    }

    /// Positive and of one length, whatever was drawn (RFC 5280, 4.1.2.2).
    @Test func serialNumbers() throws {
        let authority = AccessAuthority(name: "a root", key: try SoftwareKey(signsDigests: true))
        let tag = try InstanceTag(TextEncoding.base64url.encode([UInt8](repeating: 1, count: 32)))
        for first: UInt8 in [0x00, 0x3f, 0x80, 0xff] {
            let leaf = try authority.certificate(
                for: authority.key.publicKey, of: tag, serial: [first] + [UInt8](repeating: 0, count: 15),
                from: 1_800_000_000, to: 1_800_000_001)
            let version = try #require(leaf.firstRange(of: [0xa0, 0x03, 0x02, 0x01, 0x02, 0x02, 0x10]))
            #expect(leaf[version.upperBound] == first & 0x7f | 0x40)
        }
    }

    /// Without a proof, nothing is said of where the key is.
    @Test(.wallet) func aKeyWithoutProof() async throws {
        let device = try await rig.initialized()
        for (type, member) in [
            ("wua-request+jwt", "wallet_unit_attestation"), ("ka-request+jwt", "key_attestation"),
        ] {
            let answer = try await rig.use(type, device) { assertion in
                assertion.claims["keys_to_attest"] = [
                    .string(try assertion.attested(over: nil, at: rig.clock.now().seconds))
                ]
            }
            for seconds: Int64 in [-301, 301] {
                let late = try await rig.use(type, device) { assertion in
                    assertion.claims["keys_to_attest"] = [
                        .string(try assertion.attested(over: nil, at: rig.clock.now().seconds + seconds))
                    ]
                }
                #expect(late.wallet == "403 invalid_request", "\(type) \(seconds)")
            }
            let (_, claims) = try await rig.verified(try #require(answer.json[member]?.string))
            #expect(claims["key_storage"] == nil && claims["key_storage_info"] == nil)
            #expect(claims["attested_keys"]?.array?.count == 1)
        }
    }

    /// A certificate for the key that was bound, and for no other. The judges read it.
    @Test(.wallet) func accessCertificates() async throws {
        let (device, other) = (try await rig.initialized(), try SoftwareKey(signsDigests: true))
        var bound = other
        #expect(try await rig.use("rp-kb+jwt", device) { bound = $0.key }.wallet == "204")
        var roots: Set<String> = []
        for _ in 0..<2 {
            let answer = try await rig.accessCertificate(WalletRig.csr(bound.publicKey, by: bound))
            let text = try #require(answer.json["access_certificate"]?.string)
            let blocks = text.split(separator: "-----BEGIN CERTIFICATE-----\n")
            try #require(blocks.count == 2)
            roots.insert(String(blocks[1]))
            let lines = blocks[0].split(separator: "\n").prefix { !$0.hasPrefix("-") }
            let leaf = try TextEncoding.base64.decode(lines.joined())
            #expect(try PublicKey(ofCertificate: leaf) == bound.publicKey)
        }
        #expect(roots.count == 1)
        let good: [UInt8] = try WalletRig.csr(bound.publicKey, by: bound)
        for (name, csr, words) in [
            ("another key", try WalletRig.csr(other.publicKey, by: other), "403 invalid_request"),
            ("another's signature", try WalletRig.csr(bound.publicKey, by: other), "400 bad_request"),
            ("more", good + [0], "400 bad_request"), ("less", Array(good.dropLast()), "400 bad_request"),
            ("nothing", [], "400 bad_request"),
            ("a subject", try WalletRig.csr(bound.publicKey, by: bound, version: 1), "400 bad_request"),
        ] as [(String, [UInt8], String)] {
            #expect(try await rig.accessCertificate(csr).wallet == words, "\(name)")
        }
        // The next binding takes the place of this one.
        #expect(try await rig.use("rp-kb+jwt", device).wallet == "204")
        #expect(try await rig.accessCertificate(good).wallet == "403 invalid_request")
        var last = other
        #expect(try await rig.use("rp-kb+jwt", device) { last = $0.key }.wallet == "204")
        let csr = try WalletRig.csr(last.publicKey, by: last)
        _ = try await rig.stores.devices.revoke(.ek(device.ek), reason: "test", at: rig.clock.now())
        #expect(try await rig.accessCertificate(csr).wallet == "403 integrity_check_error")
        _ = try await rig.portal("PATCH", "wallet-instances/" + device.tag, ["status": "REVOKED"])
        #expect(try await rig.accessCertificate(csr).wallet == "403 invalid_request")
    }

    /// All instances of an authority sign with one key for an app, and another for another app.
    @Test(.wallet) func theProvidersKey() async throws {
        let again = AuthorityEngine(
            configuration: rig.engine.configuration, stores: rig.stores, keys: rig.keys, clock: rig.clock,
            ekRoots: [:])
        let first = await rig.ask("GET", "/it-wallet/wallet/jwks").json
        #expect(first["keys"]?.array?.count == 1 && first["keys"]?.array?.first?["d"] == nil)
        #expect(await again.ask("GET", "/it-wallet/wallet/jwks").json == first)
        #expect(await rig.ask("GET", "/it-wallet/other/jwks").json != first)
    }
}

extension WalletRig {
    /// PKCS #10 without a subject.
    fileprivate static func csr(_ key: PublicKey, by signer: SoftwareKey, version: UInt8 = 0) throws -> [UInt8] {
        let content = [0x30, 98, 0x02, 0x01, version, 0x30, 0x00] + key.derRepresentation + [0xa0, 0x00]
        let signature = try signer.signature(for: Digest(hashing: content)).derRepresentation
        let algorithm: [UInt8] = [0x30, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]
        let rest = content + algorithm + [0x03, UInt8(signature.count + 1), 0x00] + signature
        return [0x30, 0x81, UInt8(rest.count)] + rest
    }

    fileprivate func accessCertificate(_ csr: [UInt8]) async throws -> AuthorityAnswer {
        let body: JSON = ["csr": .string(TextEncoding.base64url.encode(csr))]
        return await ask("POST", "/it-wallet/wallet/access-certificate", try body.encoded())
    }

    /// The parts of a JWT that the provider issued, after its signature was verified with the published key.
    func verified(_ token: String) async throws -> (header: JSON, claims: JSON) {
        let published = try #require(await ask("GET", "/it-wallet/wallet/jwks").json["keys"]?.array?.first)
        let point = try ["x", "y"].flatMap { try TextEncoding.base64url.decode(published[$0]?.string ?? "") }
        let key = try PublicKey(rawRepresentation: point)
        let parts = token.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let signature = try Signature(rawRepresentation: TextEncoding.base64url.decode(parts[2]))
        try key.verify(signature, for: Digest(hashing: Array("\(parts[0]).\(parts[1])".utf8)))
        let header = try JSON(parsing: TextEncoding.base64url.decode(parts[0]))
        #expect(header["kid"]?.string == (try key.thumbprint) && header["alg"] == "ES256")
        return (header, try JSON(parsing: TextEncoding.base64url.decode(parts[1])))
    }
}
