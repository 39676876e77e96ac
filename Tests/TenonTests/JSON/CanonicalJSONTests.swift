// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

/// The canonical form of RFC 8785.
@Suite struct CanonicalJSONTests {
    private func canonical(_ text: String) throws -> String {
        String(decoding: try JSON(parsing: Array(text.utf8)).canonical(), as: UTF8.self)
    }

    /// The numbers of RFC 8785, appendix B, as the bits of a Double.
    @Test(
        arguments: [
            (0x0000_0000_0000_0000, "0"), (0x8000_0000_0000_0000, "0"), (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"), (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"), (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"), (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"), (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"), (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"), (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"), (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"), (0x41b3_de43_5555_5554, "333333333.33333325"),
            (0x41b3_de43_5555_5555, "333333333.3333333"), (0x3ff8_0000_0000_0000, "1.5"),
        ] as [(UInt64, String)])
    func numbers(_ bits: UInt64, _ text: String) throws {
        let value = JSON.number(Double(bitPattern: bits))
        #expect(String(decoding: try value.canonical(), as: UTF8.self) == text)
    }

    @Test func numbersOfATextReadBack() throws {
        for (text, form) in [
            ("1.50", "1.5"), ("10.0", "10"), ("1e2", "100"), ("-0.0", "0"), ("0.001", "0.001"), ("-12.5e-1", "-1.25"),
            ("9007199254740991", "9007199254740991"), ("1.0E+21", "1e+21"), ("123e-20", "1.23e-18"),
        ] { #expect(try canonical(text) == form, "\(text)") }
        #expect(throws: TenonError.self) { try canonical("9007199254740992") }
        #expect(throws: TenonError.self) { try canonical("-9007199254740992") }
    }

    /// The order is that of UTF-16: a character beyond U+FFFF comes before U+E000 to U+FFFF.
    @Test func keysAndTexts() throws {
        #expect(
            try canonical(#"{"\ufb33": 1, "\ud83d\ude00": [ ], "\u20ac": {}, "\r": "\u000b/\"", "1": null, "": true}"#)
                == "{\"\":true,\"\\r\":\"\\u000b/\\\"\",\"1\":null,\"\u{20ac}\":{},\"\u{1f600}\":[],\"\u{fb33}\":1}")
    }
}
