// SPDX-License-Identifier: Apache-2.0
internal import CTenon

// The functions that the fixed-size values share. Values are made from spans, and also from arrays and other sequences of
// bytes: Swift 6.3.1 crashes when the span of a throwing call's result is passed to another throwing call.
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

extension [UInt8] {
    /// Lends the bytes as a `tenon_bytes`.
    func withCoreBytes<Result>(_ body: (tenon_bytes) -> Result) -> Result {
        withUnsafeBufferPointer { body(tenon_bytes(bytes: $0.baseAddress, n: $0.count)) }
    }

    /// A copy of what the core points to.
    init(core: tenon_bytes) { self.init(UnsafeBufferPointer(start: core.bytes, count: core.n)) }

    /// Random bytes as the operating system gives them.
    package init(random count: Int) {
        var generator = SystemRandomNumberGenerator()
        self = (0..<count).map { _ in generator.next() }
    }
}

extension [[UInt8]] {
    /// Lends the byte strings as an array of `tenon_bytes`, however many there are. Their type is of C, which other
    /// modules import for themselves.
    package func withCoreBytes<Result>(_ body: (UnsafeRawPointer?, Int) -> Result) -> Result {
        flatMap(\.self).withUnsafeBufferPointer { all in
            var offset = 0
            let parts = map { part in
                defer { offset += part.count }
                return tenon_bytes(bytes: all.baseAddress.map { $0 + offset }, n: part.count)
            }
            return parts.withUnsafeBytes { body($0.baseAddress, parts.count) }
        }
    }
}

/// What the core writes for a value that was checked when it was made. The core cannot refuse such a value; were it to,
/// the array would be empty, which is no form of anything.
func array(
    capacity: Int, _ write: (UnsafeMutableBufferPointer<UInt8>, inout Int) -> tenon_status
) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: capacity) { buffer, written in
        if write(buffer, &written) != 0 { written = 0 }
    }
}

/// The bytes that the core writes, at most so many.
package func bytes(
    capacity: Int, _ write: (UnsafeMutableBufferPointer<UInt8>, inout Int) -> Int32
) throws(TenonError) -> [UInt8] {
    var status: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, written in
        status = write(buffer, &written)
        if status != 0 { written = 0 }
    }
    try TenonError.check(status)
    return bytes
}

extension String {
    /// Lends the text as the core takes texts: a pointer and a length, no NUL.
    @inline(__always)
    func withCoreText<Result>(_ body: (UnsafePointer<CChar>?, Int) -> Result) -> Result {
        utf8.span.withUnsafeBytes { body($0.bindMemory(to: CChar.self).baseAddress, $0.count) }
    }
}

extension TenonError.Code {
    /// The bytes have another length than a value of this type.
    public static let length = Self(0x0240_0001, "TENON_ERROR_LENGTH")
}
