// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

/// Random values and random damage, the same in each run.
@Suite struct JSONPropertyTests {
    @Test(arguments: 0..<8)
    func valuesComeBack(_ seed: Int) throws {
        var generator = SeededGenerator(state: UInt64(seed))
        for _ in 0..<250 {
            let value = Self.value(depth: 0, &generator)
            let written = try value.encoded()
            let read = try JSON(parsing: written, maxBytes: .max, maxValues: .max)
            #expect(read == value)
            #expect(try read.encoded() == written)
        }
    }

    /// A damaged text that is still readable is read as one value and written in one form.
    @Test(arguments: 0..<8)
    func damageIsRefusedOrRead(_ seed: Int) throws {
        var generator = SeededGenerator(state: UInt64(seed) + 100)
        var readable = 0
        for _ in 0..<250 {
            var bytes = try Self.value(depth: 0, &generator).encoded()
            let index = Int.random(in: 0..<bytes.count, using: &generator)
            bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
            guard let value = try? JSON(parsing: bytes) else { continue }
            readable += 1
            let written = try value.encoded()
            #expect(try JSON(parsing: written) == value)
        }
        #expect(readable > 0)
    }

    private static func value(depth: Int, _ generator: inout SeededGenerator) -> JSON {
        switch Int.random(in: 0..<(depth < 8 ? 8 : 6), using: &generator) {
        case 0: .null
        case 1: .bool(Bool.random(using: &generator))
        case 2: .integer(Int64(bitPattern: generator.next()) >> Int64.random(in: 0..<64, using: &generator))
        case 3: .number(finite(&generator))
        case 4, 5: .string(string(&generator))
        case 6: .array((0..<Int.random(in: 0..<5, using: &generator)).map { _ in value(depth: depth + 1, &generator) })
        default: object(depth: depth + 1, &generator)
        }
    }

    private static func object(depth: Int, _ generator: inout SeededGenerator) -> JSON {
        var object = JSONObject()
        for _ in 0..<Int.random(in: 0..<5, using: &generator) {
            object[string(&generator)] = value(depth: depth, &generator)
        }
        return .object(object)
    }

    private static func finite(_ generator: inout SeededGenerator) -> Double {
        let number = Double(bitPattern: generator.next())
        return number.isFinite ? number : 0.5
    }

    private static func string(_ generator: inout SeededGenerator) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0..<12, using: &generator) {
            let bound = [0x20, 0x80, 0x800, 0x1_0000, 0x11_0000].randomElement(using: &generator) ?? 0x80
            let number = UInt32.random(in: 0..<UInt32(bound), using: &generator)
            text.append(Unicode.Scalar(number) ?? "\u{fffd}")
        }
        return String(text)
    }
}
