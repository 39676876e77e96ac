// SPDX-License-Identifier: Apache-2.0

/// A SHA-256 digest (FIPS 180-4): 32 bytes.
public struct Digest: Sendable {
    /// The digest itself. `digest.bytes.span` reads it without a copy.
    public let bytes: InlineArray<32, UInt8>

    public init(bytes: InlineArray<32, UInt8>) { self.bytes = bytes }

    /// Takes a digest that was computed elsewhere.
    ///
    /// - Throws: ``TenonError/Code/length`` when there are not 32 bytes.
    public init(rawRepresentation: Span<UInt8>) throws(TenonError) {
        guard let bytes = InlineArray<32, UInt8>(copying: rawRepresentation) else {
            throw TenonError(.length, message: "A SHA-256 digest has 32 bytes, not \(rawRepresentation.count).")
        }
        self.bytes = bytes
    }

    /// The 32 bytes as an array.
    public var rawRepresentation: [UInt8] { bytes.array }
}

extension Digest: Hashable {
    public static func == (left: Digest, right: Digest) -> Bool { left.bytes.isEqual(to: right.bytes) }

    public func hash(into hasher: inout Hasher) { bytes.hash(into: &hasher) }
}
