// SPDX-License-Identifier: Apache-2.0
public import Tenon

extension TPM.PrivateKey {
    /// The public half; it never changes.
    public var publicKey: PublicKey { loaded.key.publicKey }

    /// The key as a TSS2 PEM file that other tools read too: useless without this TPM, and without any auth value.
    /// It changes with ``persist()`` and ``evict()``.
    public var dataRepresentation: [UInt8] { loaded.object.pem }

    /// Whether another tool made the key, so that nothing is known of how it came into the TPM. Without a
    /// ``witness`` such a key is never called gone.
    public var isForeign: Bool { loaded.object.isForeign }

    /// The TPM's Name of the key, 34 bytes: what a certificate of the key is about.
    public var name: [UInt8] { loaded.object.name }

    /// The Name of the key under which this one lies; nil when it is not known.
    public var parentName: [UInt8]? { loaded.object.parentName }

    /// The Name by which the TPM's seed is recognised, as it was when the key was made; nil when it is not known.
    public var witness: [UInt8]? { loaded.object.witness }

    /// Keeps a copy of the key in the TPM, so that a fresh process needs no Load, and gives its handle. It is a cache:
    /// ``dataRepresentation``, which names it from now on, stays the truth. Needs the owner's auth value.
    @discardableResult
    public func persist() throws(TenonError) -> UInt32 {
        try tpm.using { () throws(TenonError) in try loaded.object.persist() }
    }

    /// Keeps a copy of the key in the TPM, so that a fresh process needs no Load, and gives its handle. It is a cache:
    /// ``dataRepresentation``, which names it from now on, stays the truth. Needs the owner's auth value.
    @discardableResult
    public func persist() async throws(TenonError) -> UInt32 {
        try await tpm.run { () throws(TenonError) in try loaded.object.persist() }
    }

    /// Takes the copy away again.
    ///
    /// - Throws: ``TenonError/Code/notPersistent``; ``TenonError/Code/keyName`` when another key is there: it stays.
    public func evict() throws(TenonError) { try loaded.object.evict() }

    /// Takes the copy away again.
    ///
    /// - Throws: ``TenonError/Code/notPersistent``; ``TenonError/Code/keyName`` when another key is there: it stays.
    public func evict() async throws(TenonError) {
        try await tpm.run { () throws(TenonError) in try loaded.object.evict() }
    }

    /// Looks again whether what the key signs with is the key, as after a service refused a signature: somebody may
    /// have put another one in the place of the copy. If so, that is not used any more.
    public func check() throws(TenonError) {
        try tpm.using { () throws(TenonError) in try loaded.object.check() }
    }

    /// Looks again whether what the key signs with is the key, as after a service refused a signature: somebody may
    /// have put another one in the place of the copy. If so, that is not used any more.
    public func check() async throws(TenonError) {
        try await tpm.run { () throws(TenonError) in try loaded.object.check() }
    }
}
