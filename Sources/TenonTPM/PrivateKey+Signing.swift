// SPDX-License-Identifier: Apache-2.0
public import Tenon

// Each function has two forms: without `async` it blocks the caller's thread.
extension TPM.PrivateKey: DeviceKey {
    /// Whether the private half cannot leave the TPM: true but for some keys of other tools.
    public var isHardware: Bool { loaded.key.isHardware }

    /// Signs a request.
    public func signature(for request: RequestMessage) throws(TenonError) -> Signature {
        try loaded.key.signature(for: request)
    }

    public func blockingSignature(for request: RequestMessage) throws(TenonError) -> Signature {
        try loaded.key.signature(for: request)
    }

    public func signature(for request: RequestMessage) async throws(TenonError) -> Signature {
        try await tpm.thread.run { () throws(TenonError) in try loaded.key.signature(for: request) }
    }

    /// Signs the key that is to take this one's place.
    public func signature(forRotationTo newKey: PublicKey) throws(TenonError) -> Signature {
        try loaded.key.signature(forRotationTo: newKey)
    }

    public func signature(forRotationTo newKey: PublicKey) async throws(TenonError) -> Signature {
        try await tpm.thread.run { () throws(TenonError) in try loaded.key.signature(forRotationTo: newKey) }
    }

    /// Signs client data.
    public func signature(forClientData clientData: [UInt8]) throws(TenonError) -> Signature {
        try loaded.key.signature(forClientData: clientData)
    }

    public func signature(forClientData clientData: [UInt8]) async throws(TenonError) -> Signature {
        try await tpm.thread.run { () throws(TenonError) in try loaded.key.signature(forClientData: clientData) }
    }

    /// Signs a KERI event.
    public func signature(forEvent event: [UInt8]) throws(TenonError) -> Signature {
        try loaded.key.signature(forEvent: event)
    }

    public func signature(forEvent event: [UInt8]) async throws(TenonError) -> Signature {
        try await tpm.thread.run { () throws(TenonError) in try loaded.key.signature(forEvent: event) }
    }
}

// What CryptoKit's keys do. These sign whatever they are given, so they need the capability.
extension TPM.PrivateKey {
    /// Signs the SHA-256 of the data.
    ///
    /// - Throws: ``TenonError/Code/digestNotAllowed`` when the key was opened without ``Options/signsDigests``.
    public func signature(for data: [UInt8]) throws(TenonError) -> Signature {
        try signature(for: Digest(hashing: data))
    }

    /// Signs the SHA-256 of the data.
    ///
    /// - Throws: ``TenonError/Code/digestNotAllowed`` when the key was opened without ``Options/signsDigests``.
    public func signature(for data: [UInt8]) async throws(TenonError) -> Signature {
        try await signature(for: Digest(hashing: data))
    }

    /// Signs a digest.
    ///
    /// - Throws: ``TenonError/Code/digestNotAllowed`` when the key was opened without ``Options/signsDigests``.
    public func signature(for digest: Digest) throws(TenonError) -> Signature {
        try loaded.key.signature(for: digest)
    }

    /// Signs a digest.
    ///
    /// - Throws: ``TenonError/Code/digestNotAllowed`` when the key was opened without ``Options/signsDigests``.
    public func signature(for digest: Digest) async throws(TenonError) -> Signature {
        try await tpm.thread.run { () throws(TenonError) in try loaded.key.signature(for: digest) }
    }
}
