// SPDX-License-Identifier: Apache-2.0

// What the fixed-size values share.
extension InlineArray where Element == UInt8 {
    /// The bytes as an array.
    var array: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            for index in 0..<count { buffer.initializeElement(at: index, to: self[index]) }
            initialized = count
        }
    }

    /// Copies `count` bytes; nil when there are more or fewer.
    init?(copying bytes: Span<UInt8>) {
        guard bytes.count == Self.count else { return nil }
        self.init { bytes[$0] }
    }

    /// Compares all bytes, whatever the first ones are: what comes from a peer is compared so.
    func isEqual(to other: Self) -> Bool {
        var difference: UInt8 = 0
        for index in 0..<count { difference |= self[index] ^ other[index] }
        return difference == 0
    }

    func hash(into hasher: inout Hasher) {
        span.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}
