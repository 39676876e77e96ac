// SPDX-License-Identifier: Apache-2.0

/// A ``Secret`` that only one TPM can open, and only for one attestation key (TPM 2.0 Part 1, 24).
public struct Credential: Hashable, Sendable {
    /// TPM2B_ID_OBJECT, with its size.
    public var idObject: [UInt8]
    /// TPM2B_ENCRYPTED_SECRET, with its size.
    public var encryptedSecret: [UInt8]

    public init(idObject: [UInt8], encryptedSecret: [UInt8]) {
        self.idObject = idObject
        self.encryptedSecret = encryptedSecret
    }
}
