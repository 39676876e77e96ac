// SPDX-License-Identifier: Apache-2.0
internal import CTenon

extension Activation {
    /// The secret of a challenge: derived each time, and never stored.
    ///
    /// - Parameters:
    ///   - key: the service's own, at least 32 bytes, else ``TenonError/Code/options``.
    ///   - challenge: the challenge as it is sent.
    ///   - ekID: ``EndorsementKey/id``.
    ///   - akName: ``PublicArea/name`` of the attestation key.
    /// - Throws: ``TenonError/Code/empty``, ``TenonError/Code/tooLarge``; ``TenonError/Code/options`` for a Name that is
    ///   none of SHA-256.
    public static func secret(
        forChallenge challenge: String, ekID: Digest, akName: [UInt8], key: Secret
    ) throws(TenonError) -> Secret {
        try Secret(capacity: TENON_ACTIVATION_SECRET_SIZE) { buffer, written in
            written = buffer.count
            return buffer.withMemoryRebound(to: tenon_digest.self) { out in
                challenge.withCoreText { challenge, challengeCount in
                    withUnsafePointer(to: ekID.core) { ekID in
                        withCoreBytes(key, akName) {
                            tenon_activation_secret(
                                out.baseAddress, $0.bytes, $0.n, challenge, challengeCount, ekID, $1.bytes, $1.n)
                        }
                    }
                }
            }
        }
    }

    /// The value that the device sends. A device in a TPM has it from its attestation key, and never sees the secret.
    ///
    /// - Throws: ``TenonError/Code/credentialForm`` for a secret that has not 32 bytes, ``TenonError/Code/empty``,
    ///   ``TenonError/Code/tooLarge``, ``TenonError/Code/options``.
    public func value(secret: Secret, ekID: Digest, akName: [UInt8]) throws(TenonError) -> Digest {
        var value = tenon_digest()
        let status = Activation.withCoreBytes(secret, akName) { secret, name in
            withCore(ekID, name) { tenon_activation_value(&value, secret.bytes, secret.n, $0) }
        }
        try TenonError.check(status)
        return Digest(core: value)
    }

    /// Computes the value and compares it in constant time.
    ///
    /// - Throws: ``TenonError/Code/activation`` when it is another, of any length; else as
    ///   ``value(secret:ekID:akName:)``.
    public func verify(_ value: [UInt8], secret: Secret, ekID: Digest, akName: [UInt8]) throws(TenonError) {
        let status = Activation.withCoreBytes(secret, akName) { secret, name in
            withCore(ekID, name) { activation in
                value.withCoreBytes {
                    tenon_activation_verify(secret.bytes, secret.n, activation, $0.bytes, $0.n)
                }
            }
        }
        try TenonError.check(status)
    }

    /// Lends a `tenon_activation` without EK and AK, which the core fills in from the TPM. Its type is of C, which
    /// other modules import for themselves.
    package func withCore<Result>(_ body: (UnsafeRawPointer) -> Result) -> Result {
        withCore(Digest(core: tenon_digest()), tenon_bytes()) { body($0) }
    }

    private func withCore<Result>(
        _ ekID: Digest, _ akName: tenon_bytes, _ body: (UnsafePointer<tenon_activation>) -> Result
    ) -> Result {
        var core = tenon_activation()
        core.size = MemoryLayout<tenon_activation>.size
        core.ek_id = ekID.core
        core.ak_name = akName.bytes
        core.ak_name_n = akName.n
        return origin.withCoreText { origin, originCount in
            appID.withCoreText { appID, appIDCount in
                challenge.withCoreText { challenge, challengeCount in
                    keyText.withCoreText {
                        (core.origin, core.origin_n) = (origin, originCount)
                        (core.app_id, core.app_id_n) = (appID, appIDCount)
                        (core.challenge, core.challenge_n) = (challenge, challengeCount)
                        (core.public_key, core.public_key_n) = ($0, $1)
                        return withUnsafePointer(to: core, body)
                    }
                }
            }
        }
    }

    private static func withCoreBytes<Result>(
        _ secret: Secret, _ name: [UInt8], _ body: (tenon_bytes, tenon_bytes) -> Result
    ) -> Result {
        secret.withCoreBytes { secret in name.withCoreBytes { body(secret, $0) } }
    }
}

extension Secret {
    /// Lends the bytes as a `tenon_bytes`.
    func withCoreBytes<Result>(_ body: (tenon_bytes) -> Result) -> Result {
        withBytes { bytes in
            bytes.withUnsafeBufferPointer { body(tenon_bytes(bytes: $0.baseAddress, n: $0.count)) }
        }
    }
}
