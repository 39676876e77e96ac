// SPDX-License-Identifier: Apache-2.0
/// A UUID's 16 bytes: its text may be in either case.
struct UUIDBytes: Hashable {
    private let high: UInt64
    private let low: UInt64

    init?(_ text: String) {
        var (words, count) = ((UInt64(0), UInt64(0)), 0)
        for byte in text.utf8 where byte != UInt8(ascii: "-") {
            guard let digit = UUIDBytes.digit(byte), count < 32 else { return nil }
            if count < 16 { words.0 = words.0 << 4 | digit } else { words.1 = words.1 << 4 | digit }
            count += 1
        }
        guard text.utf8.count == 36, count == 32 else { return nil }
        (high, low) = words
    }

    private static func digit(_ byte: UInt8) -> UInt64? {
        switch byte {
        case 0x30...0x39: UInt64(byte - 0x30)
        case 0x41...0x46, 0x61...0x66: UInt64(byte | 0x20) - 0x57
        default: nil
        }
    }

    var bytes: [UInt8] {
        [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
    }
}
