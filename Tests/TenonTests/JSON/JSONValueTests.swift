// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

@Suite struct JSONValueTests {
    @Test func accessorsSayWhatAValueIs() {
        let values: [JSON] = [.null, true, 7, .number(1.5), "x", [1], ["a": 1]]
        #expect(values.map(\.isNull) == [true, false, false, false, false, false, false])
        #expect(values.map(\.bool) == [nil, true, nil, nil, nil, nil, nil])
        #expect(values.map(\.integer) == [nil, nil, 7, nil, nil, nil, nil])
        #expect(values.map(\.number) == [nil, nil, 7, 1.5, nil, nil, nil])
        #expect(values.map(\.string) == [nil, nil, nil, nil, "x", nil, nil])
        #expect(values.map(\.array) == [nil, nil, nil, nil, nil, [1], nil])
        #expect(values.map { $0["a"] } == [nil, nil, nil, nil, nil, nil, 1])
        #expect(values.map { $0["b"] } == [nil, nil, nil, nil, nil, nil, nil])
    }

    @Test func equalOnlyToItself() {
        let values: [JSON] = [
            .null, true, false, 0, 1, .number(1), .number(1.5), "", "x", [], [1], [2], [[]], [:], ["a": 1], ["a": 2],
            ["b": 1], ["a": 1, "b": 1],
        ]
        for (left, value) in values.enumerated() {
            for (right, other) in values.enumerated() { #expect((value == other) == (left == right)) }
        }
    }

    @Test func objectsChangeInPlace() throws {
        var object = JSONObject()
        object["b"] = 1
        object["a"] = 2
        object["c"] = .null
        object["b"] = 3
        #expect(object.members.map(\.key) == ["a", "b", "c"])
        #expect(object["b"] == 3)
        object["b"] = nil
        object["zz"] = nil
        #expect(object.members.map(\.key) == ["a", "c"])
        #expect(object["c"]?.isNull == true)
        #expect(object["b"] == nil)
    }

    @Test func literalKeepsTheLastOfAKey() {
        let value: JSON = ["a": 1, "b": 0, "a": 2]
        #expect(value == ["a": 2, "b": 0])
    }

    @Test(
        arguments: [
            (.null, "null"), (true, "true"), (false, "false"), (0, "0"), (.integer(.min), "-9223372036854775808"),
            (.number(1), "1.0"), (.number(0.1), "0.1"), (.number(1e100), "1e+100"), ("", #""""#), ("a/b", #""a/b""#),
            ("\"\\\u{8}\t\n\u{c}\r", #""\"\\\b\t\n\f\r""#),
            ("\0\u{1}\u{f}\u{10}\u{1f} \u{7f}", "\"\\u0000\\u0001\\u000f\\u0010\\u001f \u{7f}\""),
            ("é\u{2028}😀", "\"é\u{2028}😀\""), ([], "[]"), ([1, [2], .null], "[1,[2],null]"), ([:], "{}"),
            (["b": 1, "a": [["d": 1, "c": 2]]], #"{"a":[{"c":2,"d":1}],"b":1}"#),
            // The order is that of the bytes: short before long, upper case first, U+FFFF before U+10000.
            (
                ["\u{10000}": 1, "\u{ffff}": 2, "b": 3, "ba": 4, "B": 5, "": 6],
                "{\"\":6,\"B\":5,\"b\":3,\"ba\":4,\"\u{ffff}\":2,\"\u{10000}\":1}"
            ),
        ] as [(JSON, String)])
    func written(_ value: JSON, _ text: String) throws {
        #expect(try String(decoding: value.encoded(), as: UTF8.self) == text)
    }

    @Test func whatNoReaderTakesIsNotWritten() throws {
        for number in [Double.nan, .infinity, -.infinity] {
            #expect(codeThrown { try JSON.number(number).encoded() } == .jsonNotFinite)
        }
        var deep: JSON = 1
        for _ in 0..<8 { deep = [deep] }
        _ = try deep.encoded()
        #expect(codeThrown { try JSON.array([deep]).encoded() } == .jsonTooDeep)
        #expect(codeThrown { try JSON(dictionaryLiteral: ("a", deep)).encoded() } == .jsonTooDeep)
    }
}
