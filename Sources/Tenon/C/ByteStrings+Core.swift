// SPDX-License-Identifier: Apache-2.0
internal import CTenon

extension [UInt8] {
    /// Lends the bytes as a `tenon_bytes`.
    func withCoreBytes<Result>(_ body: (tenon_bytes) -> Result) -> Result {
        withUnsafeBufferPointer { body(tenon_bytes(bytes: $0.baseAddress, n: $0.count)) }
    }

    /// A copy of what the core points to.
    init(core: tenon_bytes) { self.init(UnsafeBufferPointer(start: core.bytes, count: core.n)) }
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
