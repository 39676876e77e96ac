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

    /// Whether this key made the signature over the SHA-256 of the data. Any failure is false.
    ///
    /// - Parameter data: any sequence of bytes: `[UInt8]`, `Data`, a slice, `"text".utf8`.
    public func isValidSignature(_ signature: Signature, for data: some Sequence<UInt8>) -> Bool {
        guard let digest = try? Digest(hashing: data) else { return false }
        return isValidSignature(signature, for: digest)
    }
}

// PEM (RFC 7468, 13): what other tools read and write.
extension PublicKey {
    private static let begin = "-----BEGIN PUBLIC KEY-----"
    private static let end = "-----END PUBLIC KEY-----"

    /// Takes one PUBLIC KEY in PEM. Lines end in LF or CRLF, and white space may stand around the block; nothing else may.
    ///
    /// - Throws: ``TenonError/Code/pemForm``; a code `base64...`; and as ``init(derRepresentation:)-(Span<UInt8>)``.
    public init(pemRepresentation: String) throws(TenonError) {
        let lines = pemRepresentation.split(whereSeparator: \.isNewline).map(Self.trimmed).filter { !$0.isEmpty }
        guard lines.count > 2, lines[0] == Self.begin, lines[lines.count - 1] == Self.end,
            !lines[1..<lines.count - 1].contains(where: { $0.hasPrefix("-----") })
        else {
            throw TenonError(.pemForm, message: "The text is not one PUBLIC KEY in PEM.")
        }
        try self.init(derRepresentation: TextEncoding.base64.decode(lines.dropFirst().dropLast().joined()))
    }

    private static func trimmed(_ line: Substring) -> Substring {
        var line = line.drop { $0 == " " || $0 == "\t" }
        while line.last == " " || line.last == "\t" { line.removeLast() }
        return line
    }

    /// The key in PEM: four lines, each with a line feed.
    public var pemRepresentation: String {
        let text = TextEncoding.base64.encode(derRepresentation)
        return "\(Self.begin)\n\(text.prefix(64))\n\(text.dropFirst(64))\n\(Self.end)\n"
    }
}

extension PublicKey: Hashable {
    public static func == (left: PublicKey, right: PublicKey) -> Bool { left.bytes.isEqual(to: right.bytes) }

    public func hash(into hasher: inout Hasher) { bytes.hash(into: &hasher) }
}
