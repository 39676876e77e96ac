// SPDX-License-Identifier: Apache-2.0
internal import CTenon

extension Credential {
    /// Makes a credential.
    ///
    /// - Parameters:
    ///   - secret: up to 32 bytes, up to 48 for ``EndorsementKey/Kind/p384``.
    ///   - ek: the TPM that can open it.
    ///   - akName: ``PublicArea/name`` of the attestation key.
    /// - Throws: ``TenonError/Code/options`` for a Name that is none of SHA-256; ``TenonError/Code/empty``,
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
