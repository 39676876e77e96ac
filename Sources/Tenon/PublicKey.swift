// SPDX-License-Identifier: Apache-2.0

/// The public half of a P-256 key: a point that is on the curve.
public struct PublicKey: Sendable {
    /// x, then y, each 32 bytes, big-endian. `key.bytes.span` reads them without a copy.
    public let bytes: InlineArray<64, UInt8>

    /// For a point that was checked.
    init(checked bytes: InlineArray<64, UInt8>) { self.bytes = bytes }

    /// x, then y, as an array.
    public var rawRepresentation: [UInt8] { bytes.array }

    /// Whether this key made the signature over the digest. Any failure is false.
    ///
    /// High s is accepted: TPMs and services make it. Whoever verifies with one key often prepares a ``Verifier``.
    public func isValidSignature(_ signature: Signature, for digest: Digest) -> Bool {
        do throws(TenonError) {
            try verify(signature, for: digest)
            return true
        } catch {
            return false
        }
    }
}

extension PublicKey: Hashable {
    public static func == (left: PublicKey, right: PublicKey) -> Bool { left.bytes.isEqual(to: right.bytes) }

    public func hash(into hasher: inout Hasher) { bytes.hash(into: &hasher) }
}
