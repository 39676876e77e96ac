// SPDX-License-Identifier: Apache-2.0
internal import CTenon

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
    /// High s is accepted: TPMs and services produce it. To verify often with one key, make a ``Verifier``.
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
            throw TenonError(.pemForm, message: "The text is not exactly one PEM block of the type PUBLIC KEY.")
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

// Any sequence of bytes, as `Data` is one, makes a key too.
extension PublicKey {
    /// Takes x || y, 64 bytes.
    public init(rawRepresentation: some Sequence<UInt8>) throws(TenonError) {
        try self.init(rawRepresentation: Array(rawRepresentation).span)
    }

    /// Takes the 65-byte point 04 || x || y.
    public init(x963Representation: some Sequence<UInt8>) throws(TenonError) {
        try self.init(x963Representation: Array(x963Representation).span)
    }

    /// Takes the 33-byte compressed point.
    public init(compressedRepresentation: some Sequence<UInt8>) throws(TenonError) {
        try self.init(compressedRepresentation: Array(compressedRepresentation).span)
    }

    /// Takes the 91-byte SubjectPublicKeyInfo.
    public init(derRepresentation: some Sequence<UInt8>) throws(TenonError) {
        try self.init(derRepresentation: Array(derRepresentation).span)
    }
}

extension PublicKey: Hashable {
    public static func == (left: PublicKey, right: PublicKey) -> Bool { left.bytes.isEqual(to: right.bytes) }

    public func hash(into hasher: inout Hasher) { bytes.hash(into: &hasher) }
}

extension PublicKey {
    /// Takes x || y, 64 bytes.
    ///
    /// - Throws: ``TenonError/Code/length`` for another length, ``TenonError/Code/pointRange``,
    ///   ``TenonError/Code/pointOffCurve``.
    public init(rawRepresentation: Span<UInt8>) throws(TenonError) {
        guard let bytes = InlineArray<64, UInt8>(copying: rawRepresentation) else {
            throw TenonError(.length, message: "A P-256 key as x || y needs 64 bytes, not \(rawRepresentation.count).")
        }
        let status = withUnsafePointer(to: unsafeBitCast(bytes, to: tenon_public_key.self)) { tenon_p256_check($0) }
        try TenonError.check(status)
        self.init(checked: bytes)
    }

    /// Takes the 65-byte point 04 || x || y (SEC 1, 2.3.3).
    ///
    /// - Throws: ``TenonError/Code/pointForm``, ``TenonError/Code/pointRange``, ``TenonError/Code/pointOffCurve``.
    public init(x963Representation: Span<UInt8>) throws(TenonError) {
        var key = tenon_public_key()
        try TenonError.check(tenon_public_key_decode_point(&key, x963Representation))
        self.init(core: key)
    }

    /// Takes the 33-byte compressed point (SEC 1, 2.3.3).
    ///
    /// - Throws: ``TenonError/Code/pointForm``, ``TenonError/Code/pointRange``, ``TenonError/Code/pointOffCurve``.
    public init(compressedRepresentation: Span<UInt8>) throws(TenonError) {
        var key = tenon_public_key()
        try TenonError.check(tenon_public_key_decode_compressed(&key, compressedRepresentation))
        self.init(core: key)
    }

    /// Takes the 91-byte SubjectPublicKeyInfo (RFC 5480, named curve, uncompressed point).
    ///
    /// - Throws: ``TenonError/Code/spkiForm``, ``TenonError/Code/pointRange``, ``TenonError/Code/pointOffCurve``.
    public init(derRepresentation: Span<UInt8>) throws(TenonError) {
        var key = tenon_public_key()
        try TenonError.check(tenon_public_key_decode_spki(&key, derRepresentation))
        self.init(core: key)
    }

    /// The 65-byte point 04 || x || y.
    public var x963Representation: [UInt8] { encoded(TENON_POINT_SIZE, tenon_public_key_encode_point) }

    /// The 33-byte compressed point.
    public var compressedRepresentation: [UInt8] {
        encoded(TENON_COMPRESSED_SIZE, tenon_public_key_encode_compressed)
    }

    /// The 91-byte SubjectPublicKeyInfo.
    public var derRepresentation: [UInt8] { encoded(TENON_SPKI_SIZE, tenon_public_key_encode_spki) }

    /// The RFC 7638 thumbprint of the key as a JWK: 43 characters of base64url.
    public var thumbprint: String {
        get throws(TenonError) {
            var status: tenon_status = 0
            let text = String(unsafeUninitializedCapacity: TENON_THUMBPRINT_SIZE) { buffer in
                var written = 0
                status = buffer.withMemoryRebound(to: CChar.self) { buffer in
                    withUnsafePointer(to: core) {
                        tenon_public_key_thumbprint(buffer.baseAddress, buffer.count, &written, $0)
                    }
                }
                return written
            }
            try TenonError.check(status)
            return text
        }
    }

    /// Verifies a signature over a digest, once.
    ///
    /// - Throws: ``TenonError/Code/signatureInvalid`` for a forgery.
    public func verify(_ signature: Signature, for digest: Digest) throws(TenonError) {
        let status = withUnsafePointer(to: core) { key in
            withUnsafePointer(to: digest.core) { digest in
                withUnsafePointer(to: signature.core) { tenon_p256_verify(key, digest, $0) }
            }
        }
        try TenonError.check(status)
    }

    /// For what the core gave: it is on the curve.
    init(core: tenon_public_key) { self.init(checked: unsafeBitCast(core, to: InlineArray<64, UInt8>.self)) }

    // tenon_public_key is 64 bytes and nothing else, as the inline array is.
    var core: tenon_public_key { unsafeBitCast(bytes, to: tenon_public_key.self) }

    private typealias Encoder = (
        UnsafeMutablePointer<UInt8>?, Int, UnsafeMutablePointer<Int>?,
        UnsafePointer<tenon_public_key>?
    ) -> tenon_status

    private func encoded(_ size: Int, _ encode: Encoder) -> [UInt8] {
        array(capacity: size) { buffer, written in
            withUnsafePointer(to: core) { encode(buffer.baseAddress, buffer.count, &written, $0) }
        }
    }
}

/// A public key that is prepared once, to verify with it many times.
public final class Verifier: Sendable {
    /// The key that is verified with.
    public let publicKey: PublicKey
    // The core's verifier is read-only once it is made: any number of threads may use it.
    nonisolated(unsafe) let handle: OpaquePointer?

    /// Prepares a key.
    public init(_ publicKey: PublicKey) throws(TenonError) {
        var handle: OpaquePointer?
        let status = withUnsafePointer(to: publicKey.core) { tenon_verifier_new(&handle, $0) }
        try TenonError.check(status)
        self.publicKey = publicKey
        self.handle = handle
    }

    deinit {
        var handle = handle
        tenon_verifier_free(&handle)
    }

    /// Verifies a signature over a digest. High s is accepted.
    ///
    /// - Throws: ``TenonError/Code/signatureInvalid`` for a forgery.
    public func verify(_ signature: Signature, for digest: Digest) throws(TenonError) {
        let status = withUnsafePointer(to: digest.core) { digest in
            withUnsafePointer(to: signature.core) { tenon_verifier_verify(handle, digest, $0) }
        }
        try TenonError.check(status)
    }

    /// Whether the key made the signature over the digest. Any failure is false.
    public func isValidSignature(_ signature: Signature, for digest: Digest) -> Bool {
        do throws(TenonError) {
            try verify(signature, for: digest)
            return true
        } catch {
            return false
        }
    }
}
