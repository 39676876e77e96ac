// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// A SHA-256 digest (FIPS 180-4): 32 bytes.
public struct Digest: Sendable {
    /// The digest itself. `digest.bytes.span` reads it without a copy.
    public let bytes: InlineArray<32, UInt8>

    /// Takes 32 bytes.
    public init(bytes: InlineArray<32, UInt8>) { self.bytes = bytes }

    /// Takes a digest that was computed elsewhere.
    ///
    /// - Throws: ``TenonError/Code/length`` when there are not 32 bytes.
    public init(rawRepresentation: Span<UInt8>) throws(TenonError) {
        guard let bytes = InlineArray<32, UInt8>(copying: rawRepresentation) else {
            throw TenonError(.length, message: "A SHA-256 digest needs 32 bytes, not \(rawRepresentation.count).")
        }
        self.bytes = bytes
    }

    /// Takes a digest that was computed elsewhere.
    public init(rawRepresentation: some Sequence<UInt8>) throws(TenonError) {
        try self.init(rawRepresentation: Array(rawRepresentation).span)
    }

    /// The 32 bytes as an array.
    public var rawRepresentation: [UInt8] { bytes.array }
}

extension Digest: Hashable {
    public static func == (left: Digest, right: Digest) -> Bool { left.bytes.isEqual(to: right.bytes) }

    public func hash(into hasher: inout Hasher) { bytes.hash(into: &hasher) }
}

extension Digest {
    /// The SHA-256 of the bytes.
    public init(hashing bytes: Span<UInt8>) throws(TenonError) {
        var digest = tenon_digest()
        try TenonError.check(tenon_sha256(&digest, bytes))
        self.init(core: digest)
    }

    /// The SHA-256 of the bytes.
    public init(hashing bytes: [UInt8]) throws(TenonError) { try self.init(hashing: bytes.span) }

    /// The SHA-256 of the bytes.
    public init(hashing bytes: some Sequence<UInt8>) throws(TenonError) { try self.init(hashing: Array(bytes).span) }

    /// The SHA-256 of the bytes.
    public init(hashing bytes: RawSpan) throws(TenonError) {
        var digest = tenon_digest()
        let status = bytes.withUnsafeBytes {
            tenon_sha256(&digest, $0.bindMemory(to: UInt8.self).baseAddress, $0.count)
        }
        try TenonError.check(status)
        self.init(core: digest)
    }

    /// The HMAC-SHA256 (RFC 2104) of the bytes.
    package init(authenticating bytes: [UInt8], key: [UInt8]) throws(TenonError) {
        var digest = tenon_digest()
        try TenonError.check(tenon_hmac_sha256(&digest, key.span, bytes.span))
        self.init(core: digest)
    }

    /// The HMAC-SHA256 (RFC 2104) of the bytes.
    package init(authenticating bytes: [UInt8], key: Secret) throws(TenonError) {
        var digest = tenon_digest()
        try key.withBytes { key throws(TenonError) in
            try TenonError.check(tenon_hmac_sha256(&digest, key, bytes.span))
        }
        self.init(core: digest)
    }

    /// The nonce that binds a key to a challenge: the SHA-256 of the received challenge text and of the base64 text
    /// of the public key exactly as it is sent. Nothing is decoded.
    ///
    /// - Throws: ``TenonError/Code/empty`` when either text is empty.
    public init(bindingChallenge challenge: String, toKeyText keyText: String) throws(TenonError) {
        var digest = tenon_digest()
        let status = challenge.withCoreText { challenge, challengeCount in
            keyText.withCoreText { tenon_binding_nonce(&digest, challenge, challengeCount, $0, $1) }
        }
        try TenonError.check(status)
        self.init(core: digest)
    }

    // tenon_digest is 32 bytes and nothing else, as the inline array is.
    @inline(__always)
    init(core: tenon_digest) { self.init(bytes: unsafeBitCast(core, to: InlineArray<32, UInt8>.self)) }

    @inline(__always)
    var core: tenon_digest { unsafeBitCast(bytes, to: tenon_digest.self) }
}

extension Digest: CustomStringConvertible {
    /// The digest in lower-case hex.
    public var description: String { TextEncoding.hex.encode(bytes.span) }
}

/// SHA-256 of data in pieces.
///
/// A value: a copy continues on its own, and you may drop one without a call.
///
/// ```swift
/// var stream = try DigestStream()
/// try stream.update(head)
/// try stream.update(body)
/// let digest = try stream.finish()
/// ```
public struct DigestStream: Sendable {
    private var core = tenon_sha256_stream()

    /// Begins a stream.
    public init() throws(TenonError) {
        try TenonError.check(tenon_sha256_begin(&core))
    }

    /// Adds bytes.
    ///
    /// - Throws: ``TenonError/Code/stream`` after ``finish()``.
    public mutating func update(_ bytes: Span<UInt8>) throws(TenonError) {
        try TenonError.check(tenon_sha256_update(&core, bytes))
    }

    /// Adds bytes.
    public mutating func update(_ bytes: [UInt8]) throws(TenonError) { try update(bytes.span) }

    /// The digest of all that was added; the stream is wiped.
    ///
    /// - Throws: ``TenonError/Code/stream`` the second time.
    public mutating func finish() throws(TenonError) -> Digest {
        var digest = tenon_digest()
        try TenonError.check(tenon_sha256_finish(&core, &digest))
        return Digest(core: digest)
    }
}

extension Digest {
    /// The nonce with which the attestation key certifies a key that replaces another. The keys are the base64
    /// texts exactly as they are sent.
    ///
    /// - Throws: ``TenonError/Code/empty``, ``TenonError/Code/tooLarge``.
    public static func rotationNonce(
        origin: String, appID: String, deviceID: String, oldKeyText: String, newKeyText: String, timestamp: String
    ) throws(TenonError) -> Digest {
        let texts = [origin, appID, deviceID, oldKeyText, newKeyText, timestamp]
        var digest = tenon_digest()
        let status = texts.map { Array($0.utf8) }.withCoreBytes { texts, count in
            let texts = UnsafeBufferPointer(start: texts?.assumingMemoryBound(to: tenon_bytes.self), count: count)
            var rotation = tenon_rotation()
            rotation.size = MemoryLayout<tenon_rotation>.size
            (rotation.origin, rotation.origin_n) = texts[0].text
            (rotation.app_id, rotation.app_id_n) = texts[1].text
            (rotation.device_id, rotation.device_id_n) = texts[2].text
            (rotation.old_public_key, rotation.old_public_key_n) = texts[3].text
            (rotation.new_public_key, rotation.new_public_key_n) = texts[4].text
            (rotation.timestamp, rotation.timestamp_n) = texts[5].text
            return tenon_rotation_nonce(&digest, &rotation)
        }
        try TenonError.check(status)
        return Digest(core: digest)
    }
}

extension tenon_bytes {
    fileprivate var text: (UnsafePointer<CChar>?, Int) {
        (UnsafeRawPointer(bytes)?.assumingMemoryBound(to: CChar.self), n)
    }
}
