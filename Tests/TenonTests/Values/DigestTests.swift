// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

@Suite struct DigestTests {
    /// FIPS 180-4; NIST's own vectors are in the C tests.
    @Test func hashesAsFIPS180() throws {
        let bytes = Array("abc".utf8)
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(try Digest(hashing: bytes).description == expected)
        #expect(try Digest(hashing: bytes.span).description == expected)
        #expect(try Digest(hashing: bytes.span.bytes).description == expected)
        #expect(try hexText(Digest(hashing: bytes).rawRepresentation) == expected)
    }

    /// RFC 4231, 4.3; a key that is longer than a block is in the C tests.
    @Test func authenticatesAsRFC4231() throws {
        let mac = try Digest(authenticating: Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
        #expect(mac.description == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    @Test(arguments: [1, 3, 63, 64, 65, 1000])
    func piecesMakeTheSameDigest(_ size: Int) throws {
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
        var stream = try DigestStream()
        for start in stride(from: 0, to: bytes.count, by: size) {
            try stream.update(Array(bytes[start..<min(start + size, bytes.count)]))
        }
        #expect(try stream.finish() == Digest(hashing: bytes))
    }

    @Test func streamIsAValueAndEndsOnce() throws {
        var stream = try DigestStream()
        try stream.update([1])
        var copy = stream
        try copy.update([2])
        #expect(try stream.finish() == Digest(hashing: [1]))
        #expect(try copy.finish() == Digest(hashing: [1, 2]))
        #expect(codeThrown { try stream.update([3]) } == .stream)
        #expect(codeThrown { try stream.finish() } == .stream)
    }

    @Test func roundTripAndEquality() throws {
        let digest = try Digest(hashing: [1, 2, 3])
        let again = try Digest(rawRepresentation: digest.rawRepresentation)
        #expect(again == digest)
        #expect(Digest(bytes: digest.bytes) == digest)
        #expect(Set([digest, again]).count == 1)
        for index in [0, 15, 31] {
            let raw = digest.rawRepresentation
            let other = try Digest(rawRepresentation: changed(raw, at: index, to: raw[index] ^ 1))
            #expect(other != digest)
            #expect(Set([digest, other]).count == 2)
        }
    }

    @Test(arguments: [0, 31, 33, 64])
    func otherLengthsAreRefused(_ count: Int) {
        let bytes = [UInt8](repeating: 0, count: count)
        #expect(codeThrown { try Digest(rawRepresentation: bytes.span) } == .length)
    }

    /// The texts are concatenated: nothing is decoded, and nothing is between them.
    @Test func bindingNonce() throws {
        let nonce = try Digest(bindingChallenge: "q83vEjRW", toKeyText: "BGD+1Lo=")
        #expect(try nonce == Digest(hashing: Array("q83vEjRWBGD+1Lo=".utf8)))
        #expect(codeThrown { try Digest(bindingChallenge: "", toKeyText: "a") } == .empty)
        #expect(codeThrown { try Digest(bindingChallenge: "a", toKeyText: "") } == .empty)
    }
}
