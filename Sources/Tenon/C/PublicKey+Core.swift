// SPDX-License-Identifier: Apache-2.0
internal import CTenon

extension PublicKey {
    /// Takes x || y, 64 bytes.
    ///
    /// - Throws: ``TenonError/Code/length`` for another length, ``TenonError/Code/pointRange``,
    ///   ``TenonError/Code/pointOffCurve``.
    public init(rawRepresentation: Span<UInt8>) throws(TenonError) {
        guard let bytes = InlineArray<64, UInt8>(copying: rawRepresentation) else {
            throw TenonError(.length, message: "A P-256 key as x || y has 64 bytes, not \(rawRepresentation.count).")
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
