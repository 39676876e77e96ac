// SPDX-License-Identifier: Apache-2.0
/// A UUID's 16 bytes: its text may be in either case.
struct UUIDBytes: Hashable {
    private let high: UInt64
    private let low: UInt64

    init?(_ text: String) {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
        guard text.utf8.count == 36, digits.count == 32, digits.allSatisfy({ $0 < 0x80 }),
            let high = UInt64(String(decoding: digits[..<16], as: UTF8.self), radix: 16),
            let low = UInt64(String(decoding: digits[16...], as: UTF8.self), radix: 16),
            digits[0] != UInt8(ascii: "+"), digits[16] != UInt8(ascii: "+")
        else { return nil }
        self.high = high
        self.low = low
    }

    var bytes: [UInt8] {
        [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
    }
}
