// SPDX-License-Identifier: Apache-2.0
internal import CTenon
internal import CTenonTPM
public import Tenon

extension TPM {
    /// A P-256 signing key that was made in a TPM and never leaves it.
    ///
    /// ```swift
    /// let key = try TPM.PrivateKey()
    /// save(key.dataRepresentation)
    /// // in another process:
    /// let key = try TPM.PrivateKey(dataRepresentation: saved)
    /// let signature = try await key.signature(for: data)
    /// key.publicKey.isValidSignature(signature, for: data)
    /// ```
    ///
    /// Behind a resource manager the key stays loaded, and a signature is one TPM command. On a TPM without one the key
    /// is loaded for each call and flushed after it, so that a program leaves nothing there. No function deletes a key
    /// because of an answer of the TPM: a key is lost for good only when an error has the category
    /// ``TenonError/Category/gone``.
    ///
    /// Copies share one key. The key keeps its TPM open, and leaves the TPM's memory with its last copy.
    ///
    /// Most functions have two forms: the one without `async` blocks the caller's thread.
    public struct PrivateKey: Sendable {
        let object: TPMObject
        let signer: Lease<CoreKey>

        /// The uses of a key beyond signing the messages of a ``DeviceKey``.
        public struct Options: OptionSet, Hashable, Sendable {
            /// The bits.
            public let rawValue: UInt32

            /// Options of these bits.
            public init(rawValue: UInt32) { self.rawValue = rawValue }

            /// The key signs any digest, and data of any form. A caller that may have that signed may have any request
            /// and any rotation signed.
            public static let signsDigests = Options(rawValue: 1 << 0)
            /// Signatures have the smaller s, as strict verifiers require.
            public static let lowS = Options(rawValue: 1 << 1)
            /// Each signature is verified with the public key before it is returned.
            public static let verified = Options(rawValue: 1 << 2)
        }

        /// Makes a key.
        ///
        /// - Parameters:
        ///   - tpm: nil is ``TPM/default()``.
        ///   - auth: a value that the key's use requires, at most 32 bytes; it never crosses the bus. nil is none.
        ///   - options: what the key may do.
        public init(in tpm: TPM? = nil, auth: [UInt8]? = nil, options: Options = []) throws(TenonError) {
            self = try Self.create(in: TPM.given(tpm), auth, options)
        }

        /// Makes a key.
        public init(in tpm: TPM? = nil, auth: [UInt8]? = nil, options: Options = []) async throws(TenonError) {
            let tpm = try TPM.given(tpm)
            self = try await tpm.thread.run { () throws(TenonError) in try Self.create(in: tpm, auth, options) }
        }

        /// Loads a key from its ``dataRepresentation``.
        ///
        /// - Parameters:
        ///   - dataRepresentation: the PEM file.
        ///   - tpm: nil is ``TPM/default()``.
        ///   - auth: the value that the key was made with.
        ///   - options: what the key may do.
        /// - Throws: ``TenonError/Code/keyAttributes`` for a key that Tenon did not make,
        ///   ``TenonError/Code/keyGone`` when the TPM was cleared since; on a TPM without a resource manager
        ///   ``check()`` and the first use throw that.
        public init(
            dataRepresentation: [UInt8], in tpm: TPM? = nil, auth: [UInt8]? = nil, options: Options = []
        ) throws(TenonError) {
            self = try Self.load(dataRepresentation, in: TPM.given(tpm), auth, options)
        }

        /// Loads a key from its ``dataRepresentation``.
        public init(
            dataRepresentation: [UInt8], in tpm: TPM? = nil, auth: [UInt8]? = nil, options: Options = []
        ) async throws(TenonError) {
            let tpm = try TPM.given(tpm)
            self = try await tpm.thread.run { () throws(TenonError) in
                try Self.load(dataRepresentation, in: tpm, auth, options)
            }
        }

        /// Loads the TSS2 PRIVATE KEY of another tool, for example of tpm2-openssl. See ``isForeign``.
        public init(
            importing pem: [UInt8], in tpm: TPM? = nil, auth: [UInt8]? = nil, options: Options = []
        ) throws(TenonError) {
            self = try Self.load(foreign: pem, in: TPM.given(tpm), auth, options)
        }

        /// Loads the TSS2 PRIVATE KEY of another tool, for example of tpm2-openssl. See ``isForeign``.
        public init(
            importing pem: [UInt8], in tpm: TPM? = nil, auth: [UInt8]? = nil, options: Options = []
        ) async throws(TenonError) {
            let tpm = try TPM.given(tpm)
            self = try await tpm.thread.run { () throws(TenonError) in
                try Self.load(foreign: pem, in: tpm, auth, options)
            }
        }

        init(_ object: TPMObject, _ options: Options) throws(TenonError) {
            self.object = object
            signer = try Lease(object.signer(options), on: object.tpm.thread)
        }
    }
}

extension TPM.PrivateKey {
    private static func create(
        in tpm: TPM, _ auth: [UInt8]?, _ options: Options
    ) throws(TenonError) -> TPM.PrivateKey {
        let auth = auth ?? []
        return try tpm.using { () throws(TenonError) in
            try Self(TPMObject(in: tpm) { tenon_tpm_key_create($0, &$1, auth.span) }, options)
        }
    }

    private static func load(
        _ pem: [UInt8], in tpm: TPM, _ auth: [UInt8]?, _ options: Options
    ) throws(TenonError) -> TPM.PrivateKey {
        try tpm.using { () throws(TenonError) in
            try Self(
                TPMObject(in: tpm, of: pem) { tpm, key in
                    withCore(pem, auth) { tenon_tpm_key_load(tpm, &key, $0, $1, $2, $3) }
                }, options)
        }
    }

    private static func load(
        foreign pem: [UInt8], in tpm: TPM, _ auth: [UInt8]?, _ options: Options
    ) throws(TenonError) -> TPM.PrivateKey {
        try tpm.using { () throws(TenonError) in
            try Self(
                TPMObject(in: tpm) { tpm, key in
                    withCore(pem, auth) { tenon_tpm_key_import(tpm, &key, $0, $1, $2, $3) }
                }, options)
        }
    }

    private static func withCore(
        _ pem: [UInt8], _ auth: [UInt8]?,
        _ body: (UnsafePointer<CChar>?, Int, UnsafePointer<UInt8>?, Int) -> tenon_status
    ) -> tenon_status {
        pem.withUnsafeBytes { pem in
            (auth ?? []).withUnsafeBufferPointer {
                body(pem.bindMemory(to: CChar.self).baseAddress, pem.count, $0.baseAddress, $0.count)
            }
        }
    }
}

extension TPM.PrivateKey: DeviceKey, DigestSigner {
    /// The public half; it never changes.
    public var publicKey: PublicKey { signer.value.publicKey }

    /// Whether the private half cannot leave the TPM: true except for some keys of other tools.
    public var isHardware: Bool { signer.value.isHardware }

    /// Signs a message of the device.
    public func signature(for message: SignableMessage) async throws(TenonError) -> Signature {
        try await tpm.run { () throws(TenonError) in try signer.value.signature(for: message) }
    }

    /// Signs a message of the device on the caller's thread, which it blocks.
    public func blockingSignature(for message: SignableMessage) throws(TenonError) -> Signature {
        try tpm.using { () throws(TenonError) in try signer.value.signature(for: message) }
    }

    /// Signs the SHA-256 of the data, as a key of CryptoKit does: ``PublicKey/isValidSignature(_:for:)`` of the same
    /// data is true.
    ///
    /// A signature proves to a service that its device made a statement. Data that could be taken for such a statement
    /// is refused, so that a caller that may have data signed cannot have a request or a rotation signed: data that
    /// begins with a method and a line feed, with `{` as client data and events do (a ``SignableMessage`` signs those),
    /// with `"@`, with a SAID and a NUL, or with the header of a JWS, the point of a P-256 key, and what begins as a TPM's
    /// statement does. A key with ``Options/signsDigests`` signs that, too.
    ///
    /// - Parameter data: any sequence of bytes: `[UInt8]`, `Data`, a slice, `"text".utf8`.
    /// - Throws: ``TenonError/Code/dataIsMessage``.
    public func signature(for data: some Sequence<UInt8>) throws(TenonError) -> Signature {
        let data = Array(data)
        return try tpm.using { () throws(TenonError) in try signer.value.signature(for: data) }
    }

    /// Signs the SHA-256 of the data, as a key of CryptoKit does.
    ///
    /// - Throws: ``TenonError/Code/dataIsMessage`` for data that could be taken for a message of a service.
    public func signature(for data: some Sequence<UInt8>) async throws(TenonError) -> Signature {
        let data = Array(data)
        return try await tpm.run { () throws(TenonError) in try signer.value.signature(for: data) }
    }

    /// Signs a digest. The key needs a capability for that, because a digest does not show its message.
    ///
    /// - Throws: ``TenonError/Code/digestNotAllowed`` when the key was opened without ``Options/signsDigests``.
    public func signature(for digest: Digest) throws(TenonError) -> Signature {
        try tpm.using { () throws(TenonError) in try signer.value.signature(for: digest) }
    }

    /// Signs a digest. The key needs a capability for that, because a digest does not show its message.
    ///
    /// - Throws: ``TenonError/Code/digestNotAllowed`` when the key was opened without ``Options/signsDigests``.
    public func signature(for digest: Digest) async throws(TenonError) -> Signature {
        try await tpm.run { () throws(TenonError) in try signer.value.signature(for: digest) }
    }

    /// Has the TPM certify that it holds this key, signed by an attestation key. One command while both are loaded.
    ///
    /// - Parameters:
    ///   - ak: an attestation key of the same ``TPM``, else ``TenonError/Code/options``.
    ///   - data: the nonce of the service, at most 32 bytes.
    ///   - certificates: the attestation key's certificate and those above it, leaf first, at most 4.
    /// - Throws: ``TenonError/Code/tooLarge`` before the TPM is asked.
    public func attest(
        by ak: TPM.AttestationKey, qualifyingData data: [UInt8], certificates: [[UInt8]] = []
    ) throws(TenonError) -> Proof {
        try tpm.using { () throws(TenonError) in try ak.certify(object, data, certificates) }
    }

    /// Has the TPM certify that it holds this key, signed by an attestation key. One command while both are loaded.
    public func attest(
        by ak: TPM.AttestationKey, qualifyingData data: [UInt8], certificates: [[UInt8]] = []
    ) async throws(TenonError) -> Proof {
        try await tpm.run { () throws(TenonError) in try ak.certify(object, data, certificates) }
    }
}

extension TPM.PrivateKey {
    /// The TPM that holds the key.
    public var tpm: TPM { object.tpm }

    /// The key as a TSS2 PEM file, which other tools can read, too. It is useless without this TPM, and holds no auth
    /// value. It changes with ``persist()`` and ``evict()``, and when a signature or ``check()`` finds another key in the
    /// place of the copy. Keep it then: a process that has the old file tries that key once more, and where it has a PIN
    /// that counts as a failed try.
    public var dataRepresentation: [UInt8] { object.pem }

    /// Whether another tool made the key, so that its origin is unknown. Without a ``witness``, such a key is never
    /// reported as gone.
    public var isForeign: Bool { object.isForeign }

    /// The TPM's public area of the key; ``name`` is computed from it.
    public var publicArea: PublicArea {
        get throws(TenonError) { try object.publicArea }
    }

    /// The TPM's Name of the key, 34 bytes. The TPM's statements about the key contain this Name.
    public var name: [UInt8] { object.name }

    /// The Name of the parent key; nil when it is not known.
    public var parentName: [UInt8]? { object.parentName }

    /// The Name that identifies the TPM's seed at the time when the key was made; nil if it is not known.
    public var witness: [UInt8]? { object.witness }

    /// Keeps a copy of the key in the TPM and returns its handle: a fresh process then needs no Load. The copy is a
    /// cache: ``dataRepresentation``, which now names it, stays the truth. It needs the owner's auth value.
    @discardableResult
    public func persist() throws(TenonError) -> UInt32 {
        try tpm.using { () throws(TenonError) in try object.persist() }
    }

    /// Keeps a copy of the key in the TPM and returns its handle: a fresh process then needs no Load. The copy is a
    /// cache: ``dataRepresentation``, which now names it, stays the truth. It needs the owner's auth value.
    @discardableResult
    public func persist() async throws(TenonError) -> UInt32 {
        try await tpm.run { () throws(TenonError) in try object.persist() }
    }

    /// Removes the copy from the TPM.
    ///
    /// - Throws: ``TenonError/Code/notPersistent``; ``TenonError/Code/keyName`` when the handle holds another key,
    ///   which stays.
    public func evict() throws(TenonError) { try object.evict() }

    /// Removes the copy from the TPM.
    ///
    /// - Throws: ``TenonError/Code/notPersistent``; ``TenonError/Code/keyName`` when the handle holds another key,
    ///   which stays.
    public func evict() async throws(TenonError) {
        try await tpm.run { () throws(TenonError) in try object.evict() }
    }

    /// Checks that the handle still holds this key, for example after a service refused a signature: somebody may have
    /// replaced the copy. A replaced copy is not used any more.
    public func check() throws(TenonError) {
        try tpm.using { () throws(TenonError) in try object.check() }
    }

    /// Checks that the handle still holds this key, for example after a service refused a signature: somebody may have
    /// replaced the copy. A replaced copy is not used any more.
    public func check() async throws(TenonError) {
        try await tpm.run { () throws(TenonError) in try object.check() }
    }
}
