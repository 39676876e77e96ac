// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

@Suite struct SignatureTests {
    static let n = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
    static let zero = String(repeating: "00", count: 32)
    static let der = "3046022100" + RFC6979.r + "022100" + RFC6979.s

    @Test func formsBothWays() throws {
        let signature = try RFC6979.signature()
        #expect(try signature.rawRepresentation == hex(RFC6979.r + RFC6979.s))
        #expect(try signature.derRepresentation == hex(Self.der))
        #expect(try Signature(derRepresentation: hex(Self.der)) == signature)
        #expect(try Signature(rawRepresentation: signature.rawRepresentation) == signature)
    }

    @Test func shortIntegersHaveShortDER() throws {
        let raw = try hex(Self.zero.dropLast(2) + "01" + Self.zero.dropLast(2) + "80")
        let signature = try Signature(rawRepresentation: raw.span)
        #expect(try signature.derRepresentation == hex("300702010102020080"))
        #expect(try Signature(derRepresentation: signature.derRepresentation) == signature)
    }

    @Test func derIntoTheCallersBytes() throws {
        let signature = try RFC6979.signature()
        var bytes = [UInt8](repeating: 0xaa, count: 80)
        var span = bytes.mutableSpan
        let written = try signature.writeDERRepresentation(into: &span)
        #expect(try Array(bytes.prefix(written)) == hex(Self.der))
        #expect(bytes.dropFirst(written).allSatisfy { $0 == 0xaa })
    }

    @Test func tooFewBytesAreLeftAlone() throws {
        let signature = try RFC6979.signature()
        var bytes = [UInt8](repeating: 0xaa, count: 71)
        let code = codeThrown {
            var span = bytes.mutableSpan
            return try signature.writeDERRepresentation(into: &span)
        }
        #expect(code == .bufferTooSmall)
        #expect(bytes.allSatisfy { $0 == 0xaa })
    }

    @Test func lowS() throws {
        let high = try RFC6979.signature()
        let low = high.normalised()
        #expect(!high.isLowS)
        #expect(low.isLowS)
        #expect(low != high)
        #expect(low.normalised() == low)
        #expect(low.rawRepresentation.prefix(32) == high.rawRepresentation.prefix(32))
        #expect(Set([high, low, low.normalised()]).count == 2)
        let key = try RFC6979.publicKey()
        let digest = try Digest(hashing: Array("sample".utf8))
        #expect(key.isValidSignature(high, for: digest))
        #expect(key.isValidSignature(low, for: digest))
    }

    /// What each form refuses is tested in C.
    @Test func bytesThatAreNone() throws {
        #expect(codeThrown { try Signature(rawRepresentation: hex(RFC6979.r + Self.n)) } == .signatureRange)
        #expect(codeThrown { try Signature(rawRepresentation: hex(RFC6979.r)) } == .length)
        let der = try hex(Self.der + "00")
        #expect(codeThrown { try Signature(derRepresentation: der.span) } == .derTrailing)
        #expect(codeThrown { try Signature(derRepresentation: hex(String(Self.der.dropLast(2)))) } == .derTruncated)
    }
}
