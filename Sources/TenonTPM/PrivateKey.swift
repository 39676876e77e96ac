// SPDX-License-Identifier: Apache-2.0
internal import CTenon
internal import CTenonTPM
public import Tenon

extension TPM {
    /// A P-256 signing key that was born in a TPM and never leaves it.
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
    /// A signature is one TPM command behind a resource manager, where the key stays loaded; on a TPM that has none the
    /// key is loaded for each call and flushed after it, so that a program leaves nothing there. No function deletes a key because of what a TPM said: a key is lost for good only
    /// when an error has the category ``TenonError/Category/gone``.
    ///
    /// Copies are one key. The key keeps its TPM open, and leaves the TPM's memory with its last copy.
    public struct PrivateKey: Sendable {
        /// The TPM that holds the key.
        public let tpm: TPM
        private let lease: Lease<LoadedKey>

        var loaded: LoadedKey { lease.value }

        /// What a key may do beyond signing the messages of a ``DeviceKey``.
        public struct Options: OptionSet, Hashable, Sendable {
            public let rawValue: UInt32

            public init(rawValue: UInt32) { self.rawValue = rawValue }

            /// The key signs any digest, and data of any form. Who may have that signed may have any request and any
            /// rotation signed.
            public static let signsDigests = Options(rawValue: 1 << 0)
            /// Signatures have the smaller s, as strict verifiers ask.
            public static let lowS = Options(rawValue: 1 << 1)
            /// Each signature is verified with the public key before it is given out.
            public static let verified = Options(rawValue: 1 << 2)
        }

        /// Makes a key.
        ///
        /// - Parameters:
        ///   - tpm: nil is ``TPM/default()``.
        ///   - auth: what the key's use shall want, at most 32 bytes: the value never crosses the bus. nil is nothing.
        ///   - options: what the key may do.
        public init(in tpm: TPM? = nil, auth: [UInt8]? = nil, options: Options = []) throws(TenonError) {
            try self.init(in: tpm) { tpm throws(TenonError) in try tpm.createKey(auth, options) }
        }

        /// Makes a key.
        public init(in tpm: TPM? = nil, auth: [UInt8]? = nil, options: Options = []) async throws(TenonError) {
            try await self.init(waitingIn: tpm) { tpm throws(TenonError) in try tpm.createKey(auth, options) }
        }

        /// Loads a key from its ``dataRepresentation``.
        ///
        /// - Parameters:
        ///   - dataRepresentation: the PEM file.
        ///   - tpm: nil is ``TPM/default()``.
        ///   - auth: what the key was made with.
        ///   - options: what the key may do.
        /// - Throws: ``TenonError/Code/keyAttributes`` for a key that Tenon did not make,
        ///   ``TenonError/Code/keyGone`` when the TPM was cleared since.
        public init(
            dataRepresentation: [UInt8], in tpm: TPM? = nil, auth: [UInt8]? = nil, options: Options = []
        ) throws(TenonError) {
            try self.init(in: tpm) { tpm throws(TenonError) in try tpm.loadKey(dataRepresentation, auth, options) }
        }

        /// Loads a key from its ``dataRepresentation``.
        public init(
            dataRepresentation: [UInt8], in tpm: TPM? = nil, auth: [UInt8]? = nil, options: Options = []
        ) async throws(TenonError) {
            try await self.init(waitingIn: tpm) { tpm throws(TenonError) in
                try tpm.loadKey(dataRepresentation, auth, options)
            }
        }

        /// Loads the TSS2 PRIVATE KEY of another tool, as of tpm2-openssl. See ``isForeign``.
        public init(
            importing pem: [UInt8], in tpm: TPM? = nil, auth: [UInt8]? = nil, options: Options = []
        ) throws(TenonError) {
            try self.init(in: tpm) { tpm throws(TenonError) in try tpm.importKey(pem, auth, options) }
        }

        /// Loads the TSS2 PRIVATE KEY of another tool, as of tpm2-openssl. See ``isForeign``.
        public init(
            importing pem: [UInt8], in tpm: TPM? = nil, auth: [UInt8]? = nil, options: Options = []
        ) async throws(TenonError) {
            try await self.init(waitingIn: tpm) { tpm throws(TenonError) in try tpm.importKey(pem, auth, options) }
        }

        private typealias Make = @Sendable (TPM) throws(TenonError) -> Lease<LoadedKey>

        private init(in tpm: TPM?, _ make: Make) throws(TenonError) {
            self.tpm = try TPM.given(tpm)
            lease = try make(self.tpm)
        }

        private init(waitingIn given: TPM?, _ make: @escaping Make) async throws(TenonError) {
            let tpm = try TPM.given(given)
            self.tpm = tpm
            lease = try await tpm.thread.run { () throws(TenonError) in try make(tpm) }
        }
    }
}

extension TPM {
    static func given(_ tpm: TPM?) throws(TenonError) -> TPM {
        if let tpm { tpm } else { try TPM.default() }
    }

    fileprivate func createKey(
        _ auth: [UInt8]?, _ options: PrivateKey.Options
    ) throws(TenonError) -> Lease<LoadedKey> {
        let auth = auth ?? []
        return try key(options) { tenon_tpm_key_create($0, &$1, auth.span) }
    }

    fileprivate func loadKey(
        _ pem: [UInt8], _ auth: [UInt8]?, _ options: PrivateKey.Options
    ) throws(TenonError) -> Lease<LoadedKey> {
        try key(options, of: pem) { tpm, key in withCore(pem, auth) { tenon_tpm_key_load(tpm, &key, $0, $1, $2, $3) } }
    }

    fileprivate func importKey(
        _ pem: [UInt8], _ auth: [UInt8]?, _ options: PrivateKey.Options
    ) throws(TenonError) -> Lease<LoadedKey> {
        try key(options) { tpm, key in withCore(pem, auth) { tenon_tpm_key_import(tpm, &key, $0, $1, $2, $3) } }
    }

    private func withCore(
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
