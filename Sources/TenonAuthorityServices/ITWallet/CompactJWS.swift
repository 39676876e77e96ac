// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// A JWS in its compact form (RFC 7515, 7.1), signed with ES256: no other algorithm is accepted.
struct CompactJWS {
    let payload: MessageObject
    /// The thumbprint of the key that signed, as the header claims.
    let keyID: String
    private let signed: [UInt8]
    private let signature: Signature

    /// Reads a JWS and checks nothing but its form.
    ///
    /// - Parameter type: the `typ` that its header must have.
    init(parsing text: String, type: String) throws(TenonError) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else {
            throw TenonError(.messageMember, message: "A JWS must have three parts.")
        }
        let header = try CompactJWS.object(parts[0])
        guard try header.text("alg", maxBytes: 16) == "ES256" else { throw header.refusal("alg", "must be ES256") }
        guard try header.text("typ", maxBytes: 64) == type else { throw header.refusal("typ", "must be \(type)") }
        // Whoever sends an extension demands that it is understood (RFC 7515, 4.1.11).
        guard try header.text("crit", maxBytes: 0) == nil else { throw header.refusal("crit", "is not supported") }
        guard let keyID = try header.text("kid", maxBytes: 64) else { throw header.missing("kid") }
        self.keyID = keyID
        payload = try CompactJWS.object(parts[1])
        signature = try Signature(rawRepresentation: TextEncoding.base64url.decode(String(parts[2])))
        signed = Array(text.utf8.dropLast(parts[2].utf8.count + 1))
    }

    /// The `typ` that a JWS claims; nil if it has none.
    static func type(of text: String) -> String? {
        guard let part = text.split(separator: ".", maxSplits: 1).first else { return nil }
        return try? object(part).text("typ", maxBytes: 64)
    }

    /// Verifies the signature, and that the header names this key.
    func verify(by key: PublicKey) throws(TenonError) {
        guard try key.thumbprint.utf8.elementsEqual(keyID.utf8) else {
            throw TenonError(.signatureInvalid, message: "The JWS names another key than the one in cnf.")
        }
        try key.verify(signature, for: Digest(hashing: signed))
    }

    /// Signs claims.
    static func sign(_ claims: JSON, type: String, by key: SoftwareKey) throws(TenonError) -> String {
        let header: JSON = ["alg": "ES256", "kid": .string(try key.publicKey.thumbprint), "typ": .string(type)]
        let text = try [header, claims].map { part throws(TenonError) in
            TextEncoding.base64url.encode(try part.encoded())
        }.joined(separator: ".")
        let signature = try key.signature(for: Digest(hashing: Array(text.utf8)))
        return text + "." + TextEncoding.base64url.encode(signature.rawRepresentation)
    }

    private static func object(_ part: Substring) throws(TenonError) -> MessageObject {
        let bytes = try TextEncoding.base64url.decode(String(part))
        return try MessageObject(parsing: bytes, maxBytes: bytes.count)
    }
}

/// A public key in the form of a JWK (RFC 7517), before anything was computed with it.
struct SentKey {
    private let point: [UInt8]

    /// - Parameter claims: has the key in `cnf.jwk`.
    init(confirming claims: MessageObject) throws(TenonError) {
        guard let confirmation = try claims.object("cnf") else { throw claims.missing("cnf") }
        guard let jwk = try confirmation.object("jwk") else { throw confirmation.missing("jwk") }
        guard try jwk.text("kty", maxBytes: 8) == "EC", try jwk.text("crv", maxBytes: 8) == "P-256" else {
            throw jwk.refusal("crv", "must be P-256")
        }
        guard try jwk.text("d", maxBytes: 64) == nil else { throw jwk.refusal("d", "must not be sent") }
        var point: [UInt8] = [4]
        for name in ["x", "y"] {
            guard let text = try jwk.text(name, maxBytes: 43) else { throw jwk.missing(name) }
            let bytes = try TextEncoding.base64url.decode(text)
            guard bytes.count == 32 else { throw jwk.refusal(name, "does not have 32 bytes") }
            point += bytes
        }
        self.point = point
    }

    var publicKey: PublicKey { get throws(TenonError) { try PublicKey(x963Representation: point.span) } }
}

extension PublicKey {
    /// The members that its thumbprint covers (RFC 7638).
    var jwk: JSON {
        let point = rawRepresentation
        return [
            "kty": "EC", "crv": "P-256", "x": .string(TextEncoding.base64url.encode(Array(point.prefix(32)))),
            "y": .string(TextEncoding.base64url.encode(Array(point.suffix(32)))),
        ]
    }
}
