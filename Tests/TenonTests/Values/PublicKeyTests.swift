// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

@Suite struct PublicKeyTests {
    typealias Failure = (name: String, code: TenonError.Code, bytes: String)

    static let prefix = "3059301306072a8648ce3d020106082a8648ce3d030107034200"

    @Test func formsBothWays() throws {
        let key = try RFC6979.publicKey()
        // y of this key is odd.
        let compressed = try hex("03" + RFC6979.x)
        let point = try hex("04" + RFC6979.x + RFC6979.y)
        let spki = try hex(Self.prefix) + point
        #expect(try key.rawRepresentation == hex(RFC6979.x + RFC6979.y))
        #expect(key.x963Representation == point)
        #expect(key.compressedRepresentation == compressed)
        #expect(key.derRepresentation == spki)
        #expect(try PublicKey(rawRepresentation: key.rawRepresentation) == key)
        #expect(try PublicKey(x963Representation: point.span) == key)
        #expect(try PublicKey(compressedRepresentation: compressed.span) == key)
        #expect(try PublicKey(derRepresentation: spki.span) == key)
    }

    /// RFC 7638 by hand: base64url of SHA-256 over the JWK's text.
    @Test func thumbprintIsTheJWKs() throws {
        let key = try RFC6979.publicKey()
        let x = try TextEncoding.base64url.encode(hex(RFC6979.x))
        let y = try TextEncoding.base64url.encode(hex(RFC6979.y))
        let jwk = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
        let expected = try TextEncoding.base64url.encode(Digest(hashing: Array(jwk.utf8)).bytes.span)
        #expect(try key.thumbprint == expected)
        #expect(try key.thumbprint == "DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm0")
    }

    /// The other root of y: a key of its own.
    @Test func equalityIsTheWholePoint() throws {
        let key = try RFC6979.publicKey()
        let mirrored = try PublicKey(compressedRepresentation: hex("02" + RFC6979.x))
        #expect(mirrored != key)
        #expect(mirrored.rawRepresentation.prefix(32) == key.rawRepresentation.prefix(32))
        #expect(try Set([key, mirrored, RFC6979.publicKey()]).count == 2)
    }

    static let pem = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYP7UuiVanTHJYet0xjVtaMBJuJI7
        Yfps5mliLmDyn7Z5A/4QCLi8maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ==
        -----END PUBLIC KEY-----

        """

    @Test func pemBothWays() throws {
        let key = try RFC6979.publicKey()
        #expect(key.pemRepresentation == Self.pem)
        for text in [
            Self.pem, "\n  \(Self.pem)\n", Self.pem.replacing("\n", with: "\r\n"),
            Self.pem.replacing("\n", with: " \n"),
            Self.pem.replacing("uJI7\n", with: "uJI7"), String(Self.pem.dropLast()),
        ] {
            #expect(try PublicKey(pemRepresentation: text) == key)
        }
    }

    @Test(
        arguments: [
            ("empty", .pemForm, ""), ("no end", .pemForm, String(pem.dropLast(30))),
            ("no body", .pemForm, "\(begin)\n\(end)"),
            ("private", .pemForm, pem.replacing("PUBLIC", with: "PRIVATE")), ("two", .pemForm, pem + pem),
            ("words before", .pemForm, "key:\n" + pem), ("words behind", .pemForm, pem + "end\n"),
            ("no base64", .base64Alphabet, pem.replacing("MFkw", with: "MF w")),
            ("a byte less", .spkiForm, pem.replacing("mQ==", with: "")),
            ("off the curve", .pointOffCurve, pem.replacing("YimQ==", with: "YimA==")),
        ] as [Failure])
    func pemIsRefused(_ failure: Failure) throws {
        let code = codeThrown { try PublicKey(pemRepresentation: failure.bytes) }
        #expect(code == failure.code)
    }

    @Test func dataIsVerified() throws {
        let (key, signature) = try (RFC6979.publicKey(), RFC6979.signature())
        #expect(key.isValidSignature(signature, for: "sample".utf8))
        #expect(key.isValidSignature(signature, for: Array("a sample".utf8).dropFirst(2)))
        #expect(!key.isValidSignature(signature, for: "samples".utf8))
        #expect(!key.isValidSignature(signature.normalised(), for: []))
        #expect(try PublicKey(rawRepresentation: key.rawRepresentation.lazy.map { $0 }) == key)
        #expect(try Signature(derRepresentation: signature.derRepresentation[...]) == signature)
    }

    private static let begin = "-----BEGIN PUBLIC KEY-----"
    private static let end = "-----END PUBLIC KEY-----"

    /// What each form refuses is tested in C.
    @Test func aPointOffTheCurveIsNoKey() throws {
        let point = RFC6979.x + RFC6979.x
        #expect(codeThrown { try PublicKey(rawRepresentation: hex(point)) } == .pointOffCurve)
        #expect(codeThrown { try PublicKey(x963Representation: hex("04" + point)) } == .pointOffCurve)
        #expect(codeThrown { try PublicKey(derRepresentation: hex(Self.prefix + "04" + point)) } == .pointOffCurve)
        let compressed = try hex("02" + String(repeating: "00", count: 31) + "01")
        #expect(codeThrown { try PublicKey(compressedRepresentation: compressed.span) } == .pointOffCurve)
    }

    @Test func aTextThatIsCutIsNoKey() throws {
        #expect(codeThrown { try PublicKey(rawRepresentation: hex(RFC6979.x)) } == .length)
        let x963 = try hex("04" + RFC6979.x)
        #expect(codeThrown { try PublicKey(x963Representation: x963.span) } == .pointForm)
        #expect(codeThrown { try PublicKey(compressedRepresentation: x963.span) } == .pointForm)
        #expect(codeThrown { try PublicKey(derRepresentation: x963.span) } == .spkiForm)
    }
}
