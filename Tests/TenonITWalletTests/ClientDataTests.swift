// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Tenon
import TenonITWallet
import Testing

/// The bytes that are hashed, each with its length and digest, and what they are made of.
@Suite struct ClientDataTests {
    private static let nonce = "i4ThI2Jhbu81i8mqyWEuDG5t"
    private static let thumbprint = "vbeXJksM45xphtANnCiG6mCyuU4jfGNzopGuKvogg9c"

    @Test("WP_140c: the client data of a use, in each dialect's words")
    func uses() throws {
        let cases: [([UInt8], Int, String)] = [
            (
                try ClientData.use("nonce", nonce: Self.nonce, thumbprint: Self.thumbprint), 99,
                "99fb91ec57df4d7980666adc94da91c46dd50829c8e6c19e680b9cfd5529e14d"
            ),
            (
                try ClientData.use("challenge", nonce: Self.nonce, thumbprint: Self.thumbprint), 103,
                "c8a4230aa3e09ef1e7572dd9286664cd1ce1094fe0e416e2c292377e90db289c"
            ),
            (
                try ClientData.keys("nonce", nonce: Self.nonce, thumbprints: [Self.thumbprint]), 102,
                "2294342f70e556e7351576e3bc29d370e4f829451a8a20278731d630ca4ae045"
            ),
            (
                try ClientData.keys("challenge", nonce: Self.nonce, thumbprints: [Self.thumbprint]), 106,
                "7828bfcf815138e97395c4f55a11f1766ed624273ff8895c74cc04b43b08c8f8"
            ),
        ]
        for (data, count, digest) in cases {
            #expect(data.count == count)
            #expect(try Digest(hashing: data).description == digest)
        }
    }

    @Test("WP_133a: the client data of an initialization, byte for byte")
    func initialization() throws {
        let data = try ClientData.initialization(
            "nonce", nonce: "d2JhY2NhbG91cmVqdWFuZGFt", tag: "WQhyDymFKsP95iFqpzdEDWW4l7aVna2Fn4JCeWHYtbU",
            thumbprint: "abTZ-kT0nKIpG_6-cE2tx5DdeWQWpeqedXz6H2b2u7M")
        #expect(data.count == 164)
        #expect(
            try Digest(hashing: data).description == "bd338777e89973719484bc70c8a1d2333a05627c981923dff4bef5673a8e9817")
    }

    @Test("WP_140c: the thumbprint of a key, and a key as a JWK")
    func thumbprints() throws {
        let jwk: JSON = [
            "crv": "P-256", "kty": "EC", "x": "4HNptI-xr2pjyRJKGMnz4WmdnQD_uJSq4R95Nj98b44",
            "y": "LIZnSB39vFJhYgS3k7jXE4r3-CoGFQwZtPBIRqpNlrg",
        ]
        let key = try #require(PublicKey(jwk: jwk))
        #expect(try key.thumbprint == Self.thumbprint)
        #expect(key.jwk == jwk)
        var short = jwk.object ?? JSONObject()
        short["x"] = .string(TextEncoding.base64url.encode([UInt8](repeating: 1, count: 30)))
        #expect(PublicKey(jwk: .object(short)) == nil)
        var whole = jwk.object ?? JSONObject()
        whole["d"] = "AA"
        #expect(PublicKey(jwk: .object(whole)) == nil)
    }

    @Test("WP_140d: one hash, and the signature of the published vector")
    func hardwareSignature() async throws {
        let data = Array(
            #"{"challenge":"i4ThI2Jhbu81i8mqyWEuDG5t","jwk_thumbprint":"vU8IDR-OlS8oK4yu-wbzbJL6gVfrT5z-whzMGJlFOBU"}"#
                .utf8)
        let key = try #require(
            PublicKey(jwk: [
                "crv": "P-256", "kty": "EC", "x": "Nj-KAJVIFKRUmTtoqERORaeoQn5ZpxnQacWnT4k_WAA",
                "y": "B84ZC8Iv-CFOZDPJdBequqwkPRq9PxvCXfDqwF5NaTI",
            ]))
        let der = try TextEncoding.base64url.decode(
            "MEYCIQDmCs9viZjFnNhkAP-ap-E_Ti5LFFeZGgFyMj77ochYuQIhAIcsv_AyLS1hJdE7fzBVfWq0QlJdGvcW1ozjK5D0ZbdV")
        let signature = try Signature(derRepresentation: der)
        #expect(
            try Digest(hashing: data).description == "55e073984b622b8bd24ea11a8ca2a3ec0cc7c8f879f1a40f512809f843038d60")
        #expect(key.isValidSignature(signature, for: data))
        // Twice is another message.
        let own = try SoftwareKey()
        let twice = try await own.signature(for: .clientDataHash(data))
        #expect(!own.publicKey.isValidSignature(twice, for: data))
        #expect(own.publicKey.isValidSignature(twice, for: try Digest(hashing: data).rawRepresentation))
    }

    @Test(
        "WP_131: a nonce that two sides could write in two ways is not taken",
        arguments: ["", "a\"b", "a\\b", "a\nb", "ä", "\u{7f}", String(repeating: "x", count: 513)])
    func nonces(_ nonce: String) {
        #expect(!ClientData.isNonce(nonce))
        #expect(throws: TenonError.self) { try ClientData.use("nonce", nonce: nonce, thumbprint: Self.thumbprint) }
    }

    @Test("WP_132: a tag is 32 bytes in base64url, its key's alone, and the same again after a restart")
    func tags() throws {
        let (key, other) = (try SoftwareKey().publicKey, try SoftwareKey().publicKey)
        let tag = try ITWallet.tag(of: key, localID: "one")
        #expect(try TextEncoding.base64url.decode(tag).count == 32)
        #expect(try tag == ITWallet.tag(of: key, localID: "one"))
        #expect(try tag != ITWallet.tag(of: other, localID: "one"))
        #expect(try tag != ITWallet.tag(of: key, localID: "two"))
    }
}
