// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// The texts that a device binds together when it answers a challenge with a ``Credential``, as they are on the wire.
/// With the endorsement key and the attestation key they give a value that only that TPM can compute, for
/// this service and application only.
public struct Activation: Hashable, Sendable {
    /// `scheme://host[:port]` in lower case, without a default port. A service uses its own, never the request's.
    public var origin: String
    /// The service's id of the application.
    public var appID: String
    /// The challenge as it was received.
    public var challenge: String
    /// The base64 text of the public key exactly as it is sent.
    public var keyText: String

    /// Takes the texts as they are on the wire.
    public init(origin: String, appID: String, challenge: String, keyText: String) {
        self.origin = origin
        self.appID = appID
        self.challenge = challenge
        self.keyText = keyText
    }
}

extension Activation {
    /// The secret of a challenge: derived each time, and never stored.
    ///
    /// - Parameters:
    ///   - key: the service's own, at least 32 bytes, else ``TenonError/Code/options``.
    ///   - challenge: the challenge as it is sent.
    ///   - ekID: ``EndorsementKey/id``.
    ///   - akName: ``PublicArea/name`` of the attestation key.
    /// - Throws: ``TenonError/Code/empty``, ``TenonError/Code/tooLarge``; ``TenonError/Code/options`` for a Name that is
    ///   not one of SHA-256.
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

/// A ``Secret`` that only one TPM can open, and only for one attestation key (TPM 2.0 Part 1, 24).
public struct Credential: Hashable, Sendable {
    /// TPM2B_ID_OBJECT, with its size.
    public var idObject: [UInt8]
    /// TPM2B_ENCRYPTED_SECRET, with its size.
    public var encryptedSecret: [UInt8]

    /// Takes the two structures as a TPM reads them.
    public init(idObject: [UInt8], encryptedSecret: [UInt8]) {
        self.idObject = idObject
        self.encryptedSecret = encryptedSecret
    }
}

extension Credential {
    /// Makes a credential.
    ///
    /// - Parameters:
    ///   - secret: up to 32 bytes, up to 48 for ``EndorsementKey/Kind/p384``.
    ///   - ek: the TPM that can open it.
    ///   - akName: ``PublicArea/name`` of the attestation key.
    /// - Throws: ``TenonError/Code/options`` for a Name without SHA-256; ``TenonError/Code/empty``,
    ///   ``TenonError/Code/tooLarge``.
    public init(_ secret: Secret, for ek: EndorsementKey, akName: [UInt8]) throws(TenonError) {
        var encrypted: [UInt8] = []
        idObject = try bytes(capacity: TENON_CREDENTIAL_MAX) { idObject, written in
            var status: tenon_status = 0
            encrypted = [UInt8](unsafeUninitializedCapacity: TENON_CREDENTIAL_MAX) { encrypted, encryptedWritten in
                status = withUnsafePointer(to: ek.core) { ek in
                    secret.withCoreBytes { secret in
                        akName.withCoreBytes {
                            tenon_credential_make(
                                idObject.baseAddress, idObject.count, &written, encrypted.baseAddress, encrypted.count,
                                &encryptedWritten, ek, $0.bytes, $0.n, secret.bytes, secret.n)
                        }
                    }
                }
                if status != 0 { encryptedWritten = 0 }
            }
            return status
        }
        encryptedSecret = encrypted
    }
}
