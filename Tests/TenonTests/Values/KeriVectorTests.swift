// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

/// A P-256 inception and rotation that two implementations of KERI accept; RFC 6979 signatures with low s.
@Suite struct KeriVectorTests {
    static let keys = [
        (
            "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20",
            "02515c3d6eb9e396b904d3feca7f54fdcd0cc1e997bf375dca515ad0a6c3b4035f"
        ),
        (
            "2122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f40",
            "031f140146bfb1b251f84f4ddbe0d4cdcfd77afd984a9520e35794021f8312bb9e"
        ),
        (
            "4142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f60",
            "03261efbd3550cf068ef013ed7366ba32f5d6fe557b4b2abce8ade58cba168a55e"
        ),
    ]

    @Test(arguments: keys)
    func scalarsHaveTheirKeys(_ scalar: String, _ compressed: String) throws {
        let key = try SoftwareKey(scalar: hex(scalar))
        #expect(try key.publicKey.compressedRepresentation == hex(compressed))
        #expect(try PublicKey(compressedRepresentation: hex(compressed)) == key.publicKey)
    }

    @Test func rotationIsSigned() async throws {
        let signature = try await sign(
            1,
            #"{"v":"KERI10JSON000164_","t":"rot","d":"EKBO8xVngC-pVQBlDbXXR4d2oIL4ezYE5kpY6p7RTt_x","#
                + #""i":"EKiCzlm2xHzI6WIBcGlo0zlyQ3cSxtmwpNGES_A0VxAD","s":"1","#
                + #""p":"EKiCzlm2xHzI6WIBcGlo0zlyQ3cSxtmwpNGES_A0VxAD","kt":"1","#
                + #""k":["1AAJAx8UAUa_sbJR-E9N2-DUzc_Xev2YSpUg41eUAh-DErue"],"nt":"1","#
                + #""n":["EPSiGrOr9S9ZxOkBDJ3aEzKJtPsDQtgNx9XFP9Be06r9"],"bt":"0","br":[],"ba":[],"a":[]}"#)
        #expect(
            hexText(signature.rawRepresentation)
                == "8a5a7af39fbe44b1d18b9bcf0e46cfa9849a907de9fcb32a870eb1b8a56a08ac"
                + "400504b8885d708426582e0d24a0e3252b524b3c296674a085daab15833b7fa2")
    }

    private func sign(_ index: Int, _ event: String) async throws -> Signature {
        let key = try SoftwareKey(scalar: hex(Self.keys[index].0), deterministic: true)
        return try await key.signature(for: .event(Array(event.utf8))).normalised()
    }
}
