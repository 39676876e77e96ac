// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A JWS in its compact form (RFC 7515), of ES256 and nothing else.
package struct JWS: Sendable {
    /// 64 KiB; what a transport takes is no more.
    private static let longest = 65_536

    package let text: String
    package let header: JSONObject
    package let claims: JSONObject
    private let input: String
    private let signature: Signature

    /// Reads a token; nothing is verified.
    ///
    /// - Throws: ``TenonError/Code/serviceAnswer`` for anything but three parts, a header with `alg` ES256, and a JSON
    ///   object.
    package init(parsing text: String) throws(TenonError) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard text.utf8.count <= Self.longest, parts.count == 3, let header = Self.object(parts[0]),
            let claims = Self.object(parts[1]), header["alg"]?.string == "ES256", header["crit"] == nil,
            let bytes = try? TextEncoding.base64url.decode(parts[2]),
            let signature = try? Signature(rawRepresentation: bytes)
        else { throw Self.malformed }
        self.text = text
        self.header = header
        self.claims = claims
        self.signature = signature
        input = parts[0] + "." + parts[1]
    }

    /// Whether this key made the signature.
    package func isSigned(by key: PublicKey) -> Bool { key.isValidSignature(signature, for: input.utf8) }

    /// Makes a token that the key signs.
    package static func sign(_ header: JSON, _ claims: JSON, by key: any DeviceKey) async throws(TenonError) -> String {
        let input =
            try TextEncoding.base64url.encode(header.encoded()) + "." + TextEncoding.base64url.encode(claims.encoded())
        let signature = try await key.signature(for: .jws(input))
        return input + "." + TextEncoding.base64url.encode(signature.rawRepresentation)
    }

    private static func object(_ part: String) -> JSONObject? {
        guard let bytes = try? TextEncoding.base64url.decode(part) else { return nil }
        return (try? JSON(parsing: bytes))?.object
    }

    private static let malformed = TenonError(
        .serviceAnswer, message: "What the provider issued is not a JWS of ES256 in its compact form.")
}

extension PublicKey {
    /// The key as a JWK (RFC 7518, 6.2).
    package var jwk: JSON {
        let point = rawRepresentation
        return [
            "crv": "P-256", "kty": "EC", "x": .string(TextEncoding.base64url.encode(Array(point[..<32]))),
            "y": .string(TextEncoding.base64url.encode(Array(point[32...]))),
        ]
    }

    /// Reads a JWK of P-256; nil for any other.
    package init?(jwk: JSON) {
        guard jwk["kty"]?.string == "EC", jwk["crv"]?.string == "P-256", jwk["d"] == nil,
            let x = jwk["x"]?.string.flatMap({ try? TextEncoding.base64url.decode($0) }), x.count == 32,
            let y = jwk["y"]?.string.flatMap({ try? TextEncoding.base64url.decode($0) }), y.count == 32,
            let key = try? PublicKey(rawRepresentation: x + y)
        else { return nil }
        self = key
    }
}
