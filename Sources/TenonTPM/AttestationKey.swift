// SPDX-License-Identifier: Apache-2.0
internal import CTenon
internal import CTenonTPM
public import Tenon

extension TPM {
    /// A key of a TPM that signs nothing but what the TPM says of its other keys, so that others can know where these
    /// live.
    ///
    /// ```swift
    /// let ak = try await TPM.AttestationKey(beside: key)
    /// let proof = try await key.attest(by: ak, qualifyingData: nonce.rawRepresentation)
    /// ```
    ///
    /// Have one for each service and application, and never show one to two attestation CAs: it would tell them that
    /// they speak of the same device.
    ///
    /// Copies are one key, which lives and dies as a ``PrivateKey`` does.
    public struct AttestationKey: Sendable {
        /// The TPM that holds the key.
        public let tpm: TPM
        private let lease: Lease<LoadedAttestationKey>

        var loaded: LoadedAttestationKey { lease.value }

        /// Makes a key under the parent of the key that it will certify.
        public init(beside key: PrivateKey) throws(TenonError) {
            tpm = key.tpm
            lease = try key.tpm.createAttestationKey(beside: key)
        }

        /// Makes a key under the parent of the key that it will certify.
        public init(beside key: PrivateKey) async throws(TenonError) {
            tpm = key.tpm
            lease = try await key.tpm.thread.run { () throws(TenonError) in
                try key.tpm.createAttestationKey(beside: key)
            }
        }

        /// Loads a key from its ``dataRepresentation``.
        ///
        /// - Parameters:
        ///   - dataRepresentation: the PEM file.
        ///   - tpm: nil is ``TPM/default()``.
        /// - Throws: ``TenonError/Code/keyAttributes`` for any other key, ``TenonError/Code/keyGone`` when the TPM was
        ///   cleared since.
        public init(dataRepresentation: [UInt8], in tpm: TPM? = nil) throws(TenonError) {
            let tpm = try TPM.given(tpm)
            self.tpm = tpm
            lease = try tpm.loadAttestationKey(dataRepresentation)
        }

        /// Loads a key from its ``dataRepresentation``.
        public init(dataRepresentation: [UInt8], in tpm: TPM? = nil) async throws(TenonError) {
            let tpm = try TPM.given(tpm)
            self.tpm = tpm
            lease = try await tpm.thread.run { () throws(TenonError) in
                try tpm.loadAttestationKey(dataRepresentation)
            }
        }

        /// What the TPM says of the key: what a service is sent of it.
        public var publicArea: PublicArea { loaded.publicArea }

        /// The key as a TSS2 PEM file: useless without this TPM.
        public var dataRepresentation: [UInt8] { loaded.object.pem }

        /// The TPM's Name of the key, 34 bytes.
        public var name: [UInt8] { loaded.object.name }

        /// The Name of the key under which this one lies; nil when it is not known.
        public var parentName: [UInt8]? { loaded.object.parentName }

        /// The Name by which the TPM's seed is recognised, as it was when the key was made; nil when it is not known.
        public var witness: [UInt8]? { loaded.object.witness }
    }
}

extension TPM {
    fileprivate func createAttestationKey(beside key: PrivateKey) throws(TenonError) -> Lease<LoadedAttestationKey> {
        try attestationKey { tenon_tpm_ak_create(key.loaded.object.pointer, &$1) }
    }

    fileprivate func loadAttestationKey(_ pem: [UInt8]) throws(TenonError) -> Lease<LoadedAttestationKey> {
        try attestationKey { tpm, key in
            pem.withUnsafeBytes {
                tenon_tpm_ak_load(tpm, &key, $0.bindMemory(to: CChar.self).baseAddress, $0.count)
            }
        }
    }
}
