// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

@Suite struct TextEncodingTests {
    /// RFC 4648, 10, and bytes where the two alphabets differ.
    static let vectors: [(bytes: [UInt8], base64: String, base64url: String, hex: String)] = [
        ([], "", "", ""), (Array("f".utf8), "Zg==", "Zg", "66"), (Array("fo".utf8), "Zm8=", "Zm8", "666f"),
        (Array("foo".utf8), "Zm9v", "Zm9v", "666f6f"), (Array("foob".utf8), "Zm9vYg==", "Zm9vYg", "666f6f62"),
        (Array("fooba".utf8), "Zm9vYmE=", "Zm9vYmE", "666f6f6261"),
        (Array("foobar".utf8), "Zm9vYmFy", "Zm9vYmFy", "666f6f626172"), ([0xfb, 0xff], "+/8=", "-_8", "fbff"),
    ]

    @Test(arguments: vectors)
    func bothWays(_ vector: (bytes: [UInt8], base64: String, base64url: String, hex: String)) throws {
        let forms = [
            (TextEncoding.base64, vector.base64), (.base64url, vector.base64url), (.hex, vector.hex),
        ]
        for (encoding, text) in forms {
            #expect(encoding.encode(vector.bytes) == text)
            #expect(try encoding.decode(text) == vector.bytes)
            var buffer = [CChar](repeating: 7, count: text.utf8.count + 1)
            var span = buffer.mutableSpan
            let written = try encoding.encode(vector.bytes.span, into: &span)
            #expect(buffer.prefix(written).map { UInt8(bitPattern: $0) } == Array(text.utf8))
            #expect(written == text.utf8.count)
            #expect(buffer.last == 7)
        }
        #expect(try TextEncoding.hex.decode(vector.hex.uppercased()) == vector.bytes)
    }

    /// What each encoding refuses is tested in C.
    @Test(
        arguments: [
            (.base64, "-_8=", .base64Alphabet), (.base64, "Zg", .base64Padding), (.base64url, "+/8", .base64Alphabet),
            (.base64url, "Zg==", .base64Padding), (.hex, "0", .hexLength), (.hex, "é", .hexAlphabet),
        ] as [(TextEncoding, String, TenonError.Code)])
    func textIsRefused(_ encoding: TextEncoding, _ text: String, _ code: TenonError.Code) {
        #expect(codeThrown { try encoding.decode(text) } == code)
    }

    @Test(arguments: [TextEncoding.base64, .base64url, .hex])
    func tooShortABufferIsLeftAlone(_ encoding: TextEncoding) {
        var buffer = [CChar](repeating: 7, count: 3)
        let bytes: [UInt8] = [1, 2, 3]
        let code = codeThrown {
            var span = buffer.mutableSpan
            return try encoding.encode(bytes.span, into: &span)
        }
        #expect(code == .bufferTooSmall)
        #expect(buffer == [7, 7, 7])
    }

    @Test func randomBytesComeBack() throws {
        var generator = SeededGenerator(state: 1)
        for count in 0..<200 {
            let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            for encoding in [TextEncoding.base64, .base64url, .hex] {
                #expect(try encoding.decode(encoding.encode(bytes.span)) == bytes)
            }
        }
    }
}
