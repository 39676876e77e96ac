// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

@Suite struct JSONLimitTests {
    @Test func sizeIsCapped() throws {
        let fits = [UInt8](repeating: 0x20, count: 65_535) + [0x31]
        #expect(try JSON(parsing: fits) == 1)
        #expect(codeThrown { try JSON(parsing: fits + [0x20]) } == .jsonTooLarge)
        #expect(codeThrown { try JSON(parsing: [0x31, 0x31], maxBytes: 1) } == .jsonTooLarge)
        #expect(try JSON(parsing: fits + [0x20], maxBytes: 65_537) == 1)
    }

    /// The array itself is one of the values.
    @Test func valuesAreCapped() throws {
        let fits = Array(("[" + String(repeating: "1,", count: 4_094) + "1]").utf8)
        #expect(try JSON(parsing: fits).array?.count == 4_095)
        let over = Array(("[" + String(repeating: "1,", count: 4_095) + "1]").utf8)
        #expect(codeThrown { try JSON(parsing: over) } == .jsonTooManyValues)
        #expect(try JSON(parsing: over, maxValues: 4_097).array?.count == 4_096)
        let members = Array(#"{"a":1,"b":2}"#.utf8)
        #expect(try JSON(parsing: members, maxValues: 3).object?.members.count == 2)
        #expect(codeThrown { try JSON(parsing: members, maxValues: 2) } == .jsonTooManyValues)
        #expect(codeThrown { try JSON(parsing: members, maxValues: 0) } == .jsonTooManyValues)
    }

    /// The longest number has 64 characters, its sign and its exponent among them.
    @Test(arguments: ["0.", "-0.", "1e"])
    func numbersAreCapped(_ head: String) throws {
        let zeros = String(repeating: "0", count: 64 - head.utf8.count)
        #expect(try JSON(parsing: Array((head + zeros).utf8)).number != nil)
        #expect(codeThrown { try JSON(parsing: Array((head + zeros + "0").utf8)) } == .jsonNumberRange)
    }

    /// Many keys with one long prefix, the worst case of a search for duplicates.
    @Test func manyAlikeKeysAreRead() throws {
        let head = String(repeating: "k", count: 40)
        let keys = (1000..<2000).map { "\"\(head)\($0)\":1" }
        let text = "{" + keys.joined(separator: ",") + "}"
        #expect(try JSON(parsing: Array(text.utf8)).object?.members.count == 1000)
        let twice = "{" + (keys + [keys[500]]).joined(separator: ",") + "}"
        #expect(codeThrown { try JSON(parsing: Array(twice.utf8)) } == .jsonDuplicateKey)
    }
}
