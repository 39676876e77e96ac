// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// A kind of request that uses the hardware key, as the `typ` of its JWS says.
struct AssertionKind: Equatable {
    let type: String
    /// Whether it has an `integrity_assertion` of its own.
    var hasQuote = true
    /// Whether it names platform and wallet solution.
    var namesSolution = false
    /// Whether it asks for an attestation of a key, as which the key in `cnf` comes.
    var attestsKey = false
    /// Whether the client data has its thumbprints in an array.
    var listsThumbprints = false
    /// Whether `iss` is the audience and the thumbprint, and not the tag.
    var isIssuedByAddress = false

    static let wallet = AssertionKind(type: "wp-war+jwt", isIssuedByAddress: true)
    static let keyBinding = AssertionKind(type: "rp-kb+jwt")
    static let instance = AssertionKind(type: "wia-request+jwt", namesSolution: true)
    static let unit = AssertionKind(type: "wua-request+jwt", namesSolution: true, attestsKey: true)
    static let key = AssertionKind(
        type: "ka-request+jwt", hasQuote: false, namesSolution: true, attestsKey: true, listsThumbprints: true)
}

/// A request that uses the hardware key, as it was sent: a JWS by a key of its own, with a signature of the hardware key
/// among its claims.
struct Assertion {
    let kind: AssertionKind
    let token: CompactJWS
    /// The key that signed the request, for which something is going to be issued.
    let key: SentKey
    let issuer: String
    let audience: String
    let issuedAt: Int64
    let expiresAt: Int64
    let nonce: String
    let tag: InstanceTag
    /// DER.
    let hardwareSignature: [UInt8]
    let quote: [UInt8]?
    let solution: WalletSolution?
    let attested: [KeyToAttest]

    /// - Parameter text: the JWS.
    init(parsing text: String, _ kind: AssertionKind) throws(TenonError) {
        let token = try CompactJWS(parsing: text, type: kind.type)
        let claims = token.payload
        (self.kind, self.token) = (kind, token)
        key = try SentKey(confirming: claims)
        issuer = try claims.required("iss", maxBytes: 600)
        audience = try claims.required("aud", maxBytes: 500)
        issuedAt = try claims.time("iat")
        expiresAt = try claims.time("exp")
        nonce = try claims.required("nonce", maxBytes: 200)
        tag = try InstanceTag(claims.required("hardware_key_tag", maxBytes: 128))
        hardwareSignature = try TextEncoding.base64url.decode(claims.required("hardware_signature", maxBytes: 128))
        quote =
            kind.hasQuote
            ? try TextEncoding.base64url.decode(claims.required("integrity_assertion", maxBytes: 2_048)) : nil
        solution = kind.namesSolution ? try WalletSolution(claims) : nil
        attested = kind.attestsKey ? try KeyToAttest.all(in: claims) : []
    }
}

/// What an instance says about the software that it is part of. Nobody vouches for it.
struct WalletSolution {
    let platform: String
    let id: String
    let version: String

    init(_ claims: MessageObject) throws(TenonError) {
        platform = try claims.required("platform", maxBytes: 64)
        id = try claims.required("wallet_solution_id", maxBytes: 200)
        version = try claims.required("wallet_solution_version", maxBytes: 64)
    }
}

/// A key that an attestation is asked for, as it describes itself.
struct KeyToAttest {
    let token: CompactJWS
    let key: SentKey
    let issuedAt: Int64
    let expiresAt: Int64
    /// The proof that the key is in the TPM of the instance, in base64url; nil if the device does not say where it is.
    let proof: String?

    static func all(in claims: MessageObject) throws(TenonError) -> [KeyToAttest] {
        guard let texts = try claims.texts("keys_to_attest", maxCount: 16, maxBytes: 30_000) else {
            throw claims.missing("keys_to_attest")
        }
        return try texts.map { text throws(TenonError) in try KeyToAttest(parsing: text) }
    }

    private init(parsing text: String) throws(TenonError) {
        token = try CompactJWS(parsing: text, type: "key-attestation-request+jwt")
        key = try SentKey(confirming: token.payload)
        issuedAt = try token.payload.time("iat")
        expiresAt = try token.payload.time("exp")
        guard let evidence = try token.payload.object("wscd_key_attestation") else {
            throw token.payload.missing("wscd_key_attestation")
        }
        guard try evidence.text("storage_type", maxBytes: 32) == "LOCAL_NATIVE" else {
            throw evidence.refusal("storage_type", "must be LOCAL_NATIVE")
        }
        proof = try evidence.text("attestation", maxBytes: 22_000)
    }
}

extension MessageObject {
    fileprivate func required(_ name: String, maxBytes: Int) throws(TenonError) -> String {
        guard let text = try text(name, maxBytes: maxBytes), !text.isEmpty else { throw missing(name) }
        return text
    }

    /// Unix seconds.
    fileprivate func time(_ name: String) throws(TenonError) -> Int64 {
        guard let time = try integer(name), time >= 0 else { throw missing(name) }
        return time
    }
}
