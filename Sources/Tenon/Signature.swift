// SPDX-License-Identifier: Apache-2.0

/// An ECDSA signature over P-256: r and s, each in 1 ... n-1.
///
/// Two signatures are equal when r and s are; `(r, s)` and `(r, n-s)` verify alike and are not equal until they are
/// ``normalised()``.
public struct Signature: Sendable {
    /// r, then s, each 32 bytes, big-endian. `signature.bytes.span` reads them without a copy.
    public let bytes: InlineArray<64, UInt8>

    /// For bytes whose range was checked.
    init(checked bytes: InlineArray<64, UInt8>) { self.bytes = bytes }

    /// r, then s, as an array.
    public var rawRepresentation: [UInt8] { bytes.array }
}

extension Signature: Hashable {
    public static func == (left: Signature, right: Signature) -> Bool { left.bytes.isEqual(to: right.bytes) }

    public func hash(into hasher: inout Hasher) { bytes.hash(into: &hasher) }
}
