// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

@Suite struct JSONReaderTests {
    typealias Refusal = (bytes: [UInt8], code: TenonError.Code, offset: Int?)

    static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// A string of these bytes.
    static func quoted(_ bytes: [UInt8]) -> [UInt8] { [0x22] + bytes + [0x22] }

    @Test(
        arguments: [
            ("null", .null), ("true", true), ("false", false), (" \t\r\n1 \t\r\n", 1), ("0", 0), ("-0", 0), ("-1", -1),
            ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)), ("1.5", .number(1.5)),
            ("-1.5e-3", .number(-0.0015)), ("1E2", .number(100)), ("1e+2", .number(100)), ("0e1", .number(0)),
            ("-0.0", .number(0)), ("0e-999", .number(0)), ("1.7976931348623157e308", .number(.greatestFiniteMagnitude)),
            ("5e-324", .number(.leastNonzeroMagnitude)), ("1700000000.123456", .number(1_700_000_000.123456)),
            (#""""#, ""),
            (#""a/b\/c""#, "a/b/c"), (#""\"\\\b\f\n\r\t""#, "\"\\\u{8}\u{c}\n\r\t"),
            (#""\u0000\u001F\u00e9\uFFFF""#, "\0\u{1f}é\u{ffff}"),
            (#""\ud83d\ude00""#, "😀"), (#""\uD800\uDC00\uDBFF\uDFFF""#, "\u{10000}\u{10ffff}"),
            ("\"\u{7f}\u{80}\u{7ff}\u{800}\"", "\u{7f}\u{80}\u{7ff}\u{800}"),
            ("\"\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{10ffff}\"", "\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{10ffff}"),
            ("[]", []), ("[ ]", []), ("[1,[2],{}]", [1, [2], [:]]), (" [ 1 , 2 ] ", [1, 2]), ("{}", [:]), ("{ }", [:]),
            (#"{"b":1,"a":[null]}"#, ["a": [.null], "b": 1]), (#" { "" : "" } "#, ["": ""]),
            (#"{"a":{"a":{"a":1}}}"#, ["a": ["a": ["a": 1]]]), ("[[[[[[[[1]]]]]]]]", [[[[[[[[1]]]]]]]]),
            ("[{},{},[],[]]", [[:], [:], [], []]),
        ] as [(String, JSON)])
    func accepted(_ text: String, _ value: JSON) throws {
        #expect(try JSON(parsing: Self.text(text)) == value)
    }

    static let misplaced: [Refusal] = [
        (text(""), .jsonTruncated, 0), (text("  "), .jsonTruncated, 2), (text("["), .jsonTruncated, 1),
        (text("[1"), .jsonTruncated, 2), (text("[1,"), .jsonTruncated, 3), (text("{"), .jsonTruncated, 1),
        (text(#"{"a""#), .jsonTruncated, 4), (text(#"{"a":"#), .jsonTruncated, 5),
        (text(#"{"a":1"#), .jsonTruncated, 6),
        (text("tru"), .jsonTruncated, 3), (text("\""), .jsonTruncated, 1), (text(#""\"#), .jsonTruncated, 2),
        (text(#""\u12"#), .jsonTruncated, 5), (text("-"), .jsonTruncated, 1), (text("1."), .jsonTruncated, 2),
        (text("1e"), .jsonTruncated, 2), (text("1e-"), .jsonTruncated, 3),
        (text("True"), .jsonSyntax, 0), (text("tRue"), .jsonSyntax, 1), (text("nul1"), .jsonSyntax, 3),
        (text("'a'"), .jsonSyntax, 0), (text("[1 2]"), .jsonSyntax, 3), (text("[,1]"), .jsonSyntax, 1),
        (text("[1,,2]"), .jsonSyntax, 3), (text("[1}"), .jsonSyntax, 2), (text("{]"), .jsonSyntax, 1),
        (text("{1:2}"), .jsonSyntax, 1), (text("{a:2}"), .jsonSyntax, 1), (text(#"{"a" 1}"#), .jsonSyntax, 5),
        (text(#"{"a":}"#), .jsonSyntax, 5), (text(#"{"a":1,,}"#), .jsonSyntax, 7), (text("{,}"), .jsonSyntax, 1),
        (text("]"), .jsonSyntax, 0), (text(","), .jsonSyntax, 0), (text("/**/1"), .jsonSyntax, 0),
        (text("[1//\n]"), .jsonSyntax, 2), ([0], .jsonSyntax, 0), ([0xff], .jsonSyntax, 0),
        ([0x0c, 0x31], .jsonSyntax, 0),
        ([0xc2, 0xa0, 0x31], .jsonSyntax, 0), ([0xff, 0xfe, 0x31, 0], .jsonSyntax, 0),
        (text("\u{2028}1"), .jsonSyntax, 0),
    ]

    static let structure: [Refusal] = [
        (text("1 2"), .jsonTrailingBytes, 2), (text("{}x"), .jsonTrailingBytes, 2),
        (text("[]]"), .jsonTrailingBytes, 2),
        (text("1,"), .jsonTrailingBytes, 1), (text("truefalse"), .jsonTrailingBytes, 4),
        ([0x31, 0], .jsonTrailingBytes, 1),
        (text("[1,]"), .jsonTrailingComma, 2), (text("[1 , ]"), .jsonTrailingComma, 3),
        (text(#"{"a":1,}"#), .jsonTrailingComma, 6),
        (text(#"{"a":1,"a":1}"#), .jsonDuplicateKey, 7), (text(#"{"a":1,"b":2,"\u0061":3}"#), .jsonDuplicateKey, 13),
        (text(#"[{"":1,"":2}]"#), .jsonDuplicateKey, 7), (text(#"{"x":{"b":1,"a":2,"b":3}}"#), .jsonDuplicateKey, 18),
        (text("[[[[[[[[[1]]]]]]]]]"), .jsonTooDeep, 8), (text("[[[[[[[[{}]]]]]]]]"), .jsonTooDeep, 8),
        (text(String(repeating: "[", count: 60_000)), .jsonTooDeep, 8),
        (text(String(repeating: #"{"a":"#, count: 9)), .jsonTooDeep, 40),
        ([0xef, 0xbb, 0xbf, 0x31], .jsonByteOrderMark, 0), ([0xef, 0xbb, 0xbf], .jsonByteOrderMark, 0),
    ]

    static let numbers: [Refusal] = [
        (text("01"), .jsonLeadingZero, 0), (text("-01"), .jsonLeadingZero, 1), (text("00"), .jsonLeadingZero, 0),
        (text("00.5"), .jsonLeadingZero, 0), (text("[1,02]"), .jsonLeadingZero, 3), (text("+1"), .jsonNumberForm, 0),
        (text(".5"), .jsonNumberForm, 0), (text("-.5"), .jsonNumberForm, 1), (text("--1"), .jsonNumberForm, 1),
        (text("1.e2"), .jsonNumberForm, 2), (text("1.]"), .jsonNumberForm, 2), (text("1e+-2"), .jsonNumberForm, 3),
        (text("1ex"), .jsonNumberForm, 2), (text("1.5.5"), .jsonTrailingBytes, 3),
        (text("0x10"), .jsonTrailingBytes, 1),
        (text("1_000"), .jsonTrailingBytes, 1), (text("NaN"), .jsonNotFinite, 0), (text("Infinity"), .jsonNotFinite, 0),
        (text("-Infinity"), .jsonNotFinite, 1), (text("[NaN]"), .jsonNotFinite, 1), (text("nan"), .jsonSyntax, 1),
        (text("9223372036854775808"), .jsonNumberRange, 0), (text("-9223372036854775809"), .jsonNumberRange, 0),
        (text("[1e309]"), .jsonNumberRange, 1), (text("-1e309"), .jsonNumberRange, 0),
        (text("1e-999"), .jsonNumberRange, 0),
        (text("0.5e-999"), .jsonNumberRange, 0), (text("1e99999999999999999999"), .jsonNumberRange, 0),
        (text("0." + String(repeating: "1", count: 63)), .jsonNumberRange, 0),
        ([0x31, 0xd9, 0xa0], .jsonTrailingBytes, 1),
    ]

    static let strings: [Refusal] = [
        (text("\"a\tb\""), .jsonControlCharacter, 2), (text("\"\n\""), .jsonControlCharacter, 1),
        (quoted([0]), .jsonControlCharacter, 1), (quoted([0x1f]), .jsonControlCharacter, 1),
        (text(#""\x""#), .jsonEscape, 1), (text(#""\U0041""#), .jsonEscape, 1), (text(#""\'""#), .jsonEscape, 1),
        (text(#""\u00g0""#), .jsonEscape, 1), (text(#""\u 041""#), .jsonEscape, 1), (text(#""\u12""#), .jsonEscape, 1),
        (text(#""\ud800\u00""#), .jsonEscape, 7), (text("\"\\\n\""), .jsonEscape, 1), (text("\"\\é\""), .jsonEscape, 1),
        (text(#""a\ud800""#), .jsonLoneSurrogate, 2), (text(#""\udc00""#), .jsonLoneSurrogate, 1),
        (text(#""\ud800x""#), .jsonLoneSurrogate, 1), (text(#""\ud800\n""#), .jsonLoneSurrogate, 1),
        (text(#""\ud800\u0041""#), .jsonLoneSurrogate, 1), (text(#""\ud800\ud800""#), .jsonLoneSurrogate, 1),
        (text(#""\udc00\ud800""#), .jsonLoneSurrogate, 1), (text(#"{"\udfff":1}"#), .jsonLoneSurrogate, 2),
    ]

    /// RFC 3629: invalid UTF-8, in a string after one letter.
    static let notUTF8: [Refusal] = [
        [0x80], [0xbf], [0xc0, 0x80], [0xc1, 0xbf], [0xc3], [0xc3, 0x28], [0xc3, 0xc0], [0xe0, 0x80, 0x80],
        [0xe0, 0x9f, 0xbf], [0xe2, 0x82], [0xe2, 0x28, 0xa1], [0xe2, 0x82, 0x28], [0xed, 0xa0, 0x80],
        [0xed, 0xbf, 0xbf], [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80], [0xf0, 0x80, 0x80, 0x80], [0xf0, 0x8f, 0xbf, 0xbf],
        [0xf0, 0x9f, 0x98], [0xf0, 0x28, 0x8c, 0xbc], [0xf0, 0x90, 0x28, 0xbc], [0xf0, 0x90, 0x8c, 0x28],
        [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80], [0xfe], [0xff],
    ].map { (quoted([0x61] + $0), .jsonUTF8, 2) }

    @Test(arguments: misplaced + structure + numbers + strings + notUTF8)
    func refused(_ refusal: Refusal) {
        let error = #expect(throws: TenonError.self) { try JSON(parsing: refusal.bytes) }
        #expect(error?.code == refusal.code)
        if let offset = refusal.offset { #expect(error?.message.hasSuffix(" at byte \(offset).") == true) }
    }

    @Test func cutUTF8AtTheEndIsRefused() {
        for sequence: [UInt8] in [[0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x98]] {
            #expect(codeThrown { try JSON(parsing: [0x22] + sequence) } == .jsonUTF8)
        }
    }

    /// A valid text is invalid when it is cut anywhere.
    @Test func cutAnywhereIsRefused() throws {
        let whole = Self.text(#"{"a":[1,-2.5e3,"é\u00e9\ud83d\ude00"],"b":{"c":null,"d":true}}"#)
        _ = try JSON(parsing: whole)
        for count in 0..<whole.count {
            #expect(throws: TenonError.self) { try JSON(parsing: Array(whole.prefix(count))) }
        }
    }

    @Test func messagesNeverHoldTheContent() {
        let secret = "hunter2"
        for text in ["[\"\(secret)\",]", "{\"\(secret)\":1,\"\(secret)\":2}", "\(secret)", "[\"\(secret)\\x\"]"] {
            let error = #expect(throws: TenonError.self) { try JSON(parsing: Self.text(text)) }
            #expect(error?.description.contains(secret) == false)
        }
    }

    /// Keys are bytes: U+00E9 and U+0065 U+0301 are two.
    @Test func keysAreNotNormalised() throws {
        let value = try JSON(parsing: Self.text("{\"\u{e9}\":1,\"e\u{301}\":2}"))
        #expect(value["\u{e9}"] == 1)
        #expect(value["e\u{301}"] == 2)
        #expect(JSON.string("\u{e9}") != JSON.string("e\u{301}"))
    }
}
