// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import TestEvidence

/// A quote like that of a TPM (TPM 2.0 Part 2, 10.12.8). Each field may be changed before it is made.
struct QuoteRig {
    var nonce: Digest
    var ak: SoftwareKey
    var magic: [UInt8] = [0xff, 0x54, 0x43, 0x47]
    var type: [UInt8] = [0x80, 0x18]
    /// The first byte has PCR 0 to 7.
    var selection: [UInt8] = [0xff, 0, 0]
    var values = [UInt8](repeating: 7, count: 32)

    /// In base64url.
    func quote() throws -> String {
        func sized(_ bytes: [UInt8]) -> [UInt8] { [0, UInt8(bytes.count)] + bytes }
        let signer = [0x00, 0x0b] + [UInt8](repeating: 3, count: 32)
        let clock = [UInt8](repeating: 0, count: 16) + [1]
        let firmware = [UInt8](repeating: 0, count: 8)
        let pcrs = [0, 0, 0, 1, 0, 0x0b, UInt8(selection.count)] + selection
        let quoted =
            magic + type + sized(signer) + sized(nonce.rawRepresentation) + clock + firmware + pcrs + sized(values)
        let raw = try ak.signature(for: Digest(hashing: quoted)).rawRepresentation
        let signature = [0, 0x18, 0, 0x0b] + sized(Array(raw.prefix(32))) + sized(Array(raw.suffix(32)))
        return TextEncoding.base64url.encode(Self.cbor(quoted, signature))
    }

    /// `{"fmt": "tpm-quote", "attStmt": {"alg": -7, "sig": ..., "ver": "2.0", "quoted": ...}}`.
    private static func cbor(_ quoted: [UInt8], _ signature: [UInt8]) -> [UInt8] {
        func text(_ text: String) -> [UInt8] { [0x60 | UInt8(text.utf8.count)] + Array(text.utf8) }
        func bytes(_ bytes: [UInt8]) -> [UInt8] { [0x58, UInt8(bytes.count)] + bytes }
        let statement =
            [0xa4] + text("alg") + [0x26] + text("sig") + bytes(signature) + text("ver") + text("2.0")
            + text("quoted") + bytes(quoted)
        return [0xa2] + text("fmt") + text("tpm-quote") + text("attStmt") + statement
    }
}

/// A request that uses the hardware key, as a device makes it. Each part may be changed before it is made.
struct WalletAssertion {
    var device: WalletDevice
    var key: SoftwareKey
    var nonce: String
    var header: [String: JSON]
    var claims: [String: JSON]
    /// Signs the request, normally the key in `cnf`.
    var signer: SoftwareKey

    static let solution: [String: JSON] = [
        "platform": "linux", "wallet_solution_id": "solution", "wallet_solution_version": "1.0",
    ]

    init(
        _ type: String, _ device: WalletDevice, nonce: String, at now: Int64, doubled: Bool = false,
        quote: (inout QuoteRig) -> Void = { _ in }
    ) throws {
        let key = try SoftwareKey(signsDigests: true)
        let thumbprint = try key.publicKey.thumbprint
        let isKey = type == "ka-request+jwt"
        let digest = try Self.clientData(type, nonce: nonce, thumbprint)
        let signed = doubled ? try Digest(hashing: digest.rawRepresentation) : digest
        let audience = WalletRig.origin + "/it-wallet/wallet"
        self.device = device
        self.nonce = nonce
        (self.key, signer) = (key, key)
        header = ["alg": "ES256", "kid": .string(thumbprint), "typ": .string(type)]
        claims = [
            "iss": .string(type == "wp-war+jwt" ? "\(audience)/\(thumbprint)" : device.tag), "aud": .string(audience),
            "iat": .integer(now), "exp": .integer(now + 300), "nonce": .string(nonce),
            "hardware_key_tag": .string(device.tag), "cnf": ["jwk": Self.jwk(key.publicKey)],
            "hardware_signature": .string(
                TextEncoding.base64url.encode(try device.key.signature(for: signed).derRepresentation)),
        ]
        if !isKey {
            var rig = QuoteRig(nonce: digest, ak: device.ak)
            quote(&rig)
            claims["integrity_assertion"] = .string(try rig.quote())
        }
        guard type.hasSuffix("-request+jwt") else { return }
        claims.merge(Self.solution) { $1 }
        guard type != "wia-request+jwt" else { return }
        claims["keys_to_attest"] = [.string(try attested(over: digest, at: now))]
    }

    static func clientData(_ type: String, nonce: String, _ thumbprint: String) throws -> Digest {
        let (name, value) =
            type == "ka-request+jwt"
            ? ("jwk_thumbprints", #"["\#(thumbprint)"]"#) : ("jwk_thumbprint", #""\#(thumbprint)""#)
        return try Digest(hashing: Array(#"{"nonce":"\#(nonce)","\#(name)":\#(value)}"#.utf8))
    }

    /// The only element of `keys_to_attest`: the key of the request, which is in the TPM.
    ///
    /// - Parameter digest: what the proof is bound to; nil for no proof.
    func attested(over digest: Digest?, at now: Int64, by ak: WalletDevice? = nil) throws -> String {
        var evidence: [String: JSON] = ["storage_type": "LOCAL_NATIVE"]
        if let digest { evidence["attestation"] = .string(try (ak ?? device).proof(over: digest, of: key.publicKey)) }
        let claims: [String: JSON] = [
            "cnf": ["jwk": Self.jwk(key.publicKey)], "iat": .integer(now), "exp": .integer(now + 300),
            "wscd_key_attestation": .members(evidence),
        ]
        var header = header
        header["typ"] = "key-attestation-request+jwt"
        return try Self.token(header, claims, signer)
    }

    func encoded() throws -> String { try Self.token(header, claims, signer) }

    static func token(_ header: [String: JSON], _ claims: [String: JSON], _ key: SoftwareKey) throws -> String {
        let parts = try [header, claims].map { TextEncoding.base64url.encode(try JSON.members($0).encoded()) }
        let text = parts.joined(separator: ".")
        let signature = try key.signature(for: Digest(hashing: Array(text.utf8)))
        return text + "." + TextEncoding.base64url.encode(signature.rawRepresentation)
    }

    static func jwk(_ key: PublicKey) -> JSON {
        let point = key.rawRepresentation
        return [
            "kty": "EC", "crv": "P-256", "x": .string(TextEncoding.base64url.encode(Array(point[..<32]))),
            "y": .string(TextEncoding.base64url.encode(Array(point[32...]))),
        ]
    }
}

extension WalletRig {
    /// The paths by the `typ` of their requests.
    static let uses = [
        "wp-war+jwt": "key-binding", "rp-kb+jwt": "key-binding", "wia-request+jwt": "wallet-instance-attestations",
        "wua-request+jwt": "wallet-unit-attestations", "ka-request+jwt": "key-attestation",
    ]

    /// Sends a request, whose parts the caller may change.
    ///
    /// - Parameter doubled: signs the digest of the digest with the hardware key.
    func use(
        _ type: String, _ device: WalletDevice, nonce: String? = nil, doubled: Bool = false,
        _ change: (inout WalletAssertion) throws -> Void = { _ in }, quote: (inout QuoteRig) -> Void = { _ in }
    ) async throws -> AuthorityAnswer {
        let fresh = if let nonce { nonce } else { try await self.nonce() }
        var assertion = try WalletAssertion(
            type, device, nonce: fresh, at: clock.now().seconds, doubled: doubled, quote: quote)
        try change(&assertion)
        return try await send(assertion.encoded(), to: Self.uses[type] ?? "")
    }

    func send(_ assertion: String, to path: String) async throws -> AuthorityAnswer {
        await ask("POST", "/it-wallet/wallet/" + path, try (["assertion": .string(assertion)] as JSON).encoded())
    }
}
