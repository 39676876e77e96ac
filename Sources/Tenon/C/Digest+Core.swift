// SPDX-License-Identifier: Apache-2.0
internal import CTenon

extension Digest {
    /// The SHA-256 of the bytes.
    public init(hashing bytes: Span<UInt8>) throws(TenonError) {
        var digest = tenon_digest()
        try TenonError.check(tenon_sha256(&digest, bytes))
        self.init(core: digest)
    }

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

    /// The nonce that binds a key to a challenge: the SHA-256 of the challenge text as it came, then of the base64 text
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
