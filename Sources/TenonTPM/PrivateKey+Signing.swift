// SPDX-License-Identifier: Apache-2.0
public import Tenon

extension TPM.PrivateKey: DeviceKey {
    /// Whether the private half cannot leave the TPM: true but for some keys of other tools.
    public var isHardware: Bool { loaded.key.isHardware }

    /// Signs a message of the device.
    public func signature(for message: SignableMessage) async throws(TenonError) -> Signature {
        try await tpm.run { () throws(TenonError) in try loaded.key.signature(for: message) }
    }

    /// Signs a message of the device on the caller's thread, which it blocks.
    public func blockingSignature(for message: SignableMessage) throws(TenonError) -> Signature {
        try tpm.using { () throws(TenonError) in try loaded.key.signature(for: message) }
    }
}

// What CryptoKit's keys do. Each function has two forms: without `async` it blocks the caller's thread.
extension TPM.PrivateKey {
    /// Signs the SHA-256 of the data, as a key of CryptoKit does: ``PublicKey/isValidSignature(_:for:)`` of the same data
    /// is true.
    ///
    /// A service knows by a signature that its device said something. So that nobody who may have data signed can have a
    /// request, a rotation or a statement signed with it, data is refused that could be taken for one: what begins with
    /// a method and a line feed, or with `{` as client data and events do (those are a ``SignableMessage``), or
    /// with `"@`, the point of a P-256 key, and what begins as a TPM's statement does. A key with
    /// ``Options/signsDigests`` signs that, too.
    ///
    /// - Parameter data: any sequence of bytes: `[UInt8]`, `Data`, a slice, `"text".utf8`.
    /// - Throws: ``TenonError/Code/dataIsMessage``.
    public func signature(for data: some Sequence<UInt8>) throws(TenonError) -> Signature {
        let data = Array(data)
        return try tpm.using { () throws(TenonError) in try loaded.key.signature(for: data) }
    }

    /// Signs the SHA-256 of the data, as a key of CryptoKit does.
    ///
    /// - Throws: ``TenonError/Code/dataIsMessage`` for data that could be taken for a message of a service.
    public func signature(for data: some Sequence<UInt8>) async throws(TenonError) -> Signature {
        let data = Array(data)
        return try await tpm.run { () throws(TenonError) in try loaded.key.signature(for: data) }
    }

    /// Signs a digest. What it is the digest of nobody can see, so that the key needs the capability.
    ///
    /// - Throws: ``TenonError/Code/digestNotAllowed`` when the key was opened without ``Options/signsDigests``.
    public func signature(for digest: Digest) throws(TenonError) -> Signature {
        try tpm.using { () throws(TenonError) in try loaded.key.signature(for: digest) }
    }

    /// Signs a digest. What it is the digest of nobody can see, so that the key needs the capability.
    ///
    /// - Throws: ``TenonError/Code/digestNotAllowed`` when the key was opened without ``Options/signsDigests``.
    public func signature(for digest: Digest) async throws(TenonError) -> Signature {
        try await tpm.run { () throws(TenonError) in try loaded.key.signature(for: digest) }
    }
}
