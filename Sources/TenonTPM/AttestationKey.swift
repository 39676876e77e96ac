// SPDX-License-Identifier: Apache-2.0
internal import CTenon
internal import CTenonTPM
public import Tenon

extension TPM {
    /// A key of a TPM that signs only the TPM's own statements about its other keys, so that others can verify that
    /// those keys are in the TPM.
    ///
    /// ```swift
    /// let ak = try await TPM.AttestationKey(beside: key)
    /// let proof = try await key.attest(by: ak, qualifyingData: nonce.rawRepresentation)
    /// ```
    ///
    /// Make one for each service and application, and never show one to two attestation CAs: they could recognise the
    /// same device by it.
    ///
    /// Copies share one key, which lives as long as a ``PrivateKey`` does.
    public struct AttestationKey: Sendable {
        /// The TPM's public area of the key, which a service is sent.
        public let publicArea: PublicArea
        private let object: TPMObject

        /// Makes a key under the parent of the key that it will certify.
        public init(beside key: PrivateKey) throws(TenonError) {
            self = try Self.create(beside: key.object)
        }

        /// Makes a key under the parent of the key that it will certify.
        public init(beside key: PrivateKey) async throws(TenonError) {
            self = try await key.tpm.thread.run { () throws(TenonError) in try Self.create(beside: key.object) }
        }

        /// Loads a key from its ``dataRepresentation``.
        ///
        /// - Parameters:
        ///   - dataRepresentation: the PEM file.
        ///   - tpm: nil is ``TPM/default()``.
        /// - Throws: ``TenonError/Code/keyAttributes`` for any other key, ``TenonError/Code/keyGone`` when the TPM was
        ///   cleared since.
        public init(dataRepresentation: [UInt8], in tpm: TPM? = nil) throws(TenonError) {
            self = try Self.load(dataRepresentation, in: TPM.given(tpm))
        }

        /// Loads a key from its ``dataRepresentation``.
        public init(dataRepresentation: [UInt8], in tpm: TPM? = nil) async throws(TenonError) {
            let tpm = try TPM.given(tpm)
            self = try await tpm.thread.run { () throws(TenonError) in try Self.load(dataRepresentation, in: tpm) }
        }

        private init(_ object: TPMObject) throws(TenonError) {
            publicArea = try object.publicArea
            self.object = object
        }

        private static func create(beside key: TPMObject) throws(TenonError) -> AttestationKey {
            try key.tpm.using { () throws(TenonError) in
                try Self(TPMObject(in: key.tpm) { tenon_tpm_ak_create(key.pointer, &$1) })
            }
        }

        private static func load(_ pem: [UInt8], in tpm: TPM) throws(TenonError) -> AttestationKey {
            try tpm.using { () throws(TenonError) in
                try Self(
                    TPMObject(in: tpm) { tpm, key in
                        pem.withUnsafeBytes {
                            tenon_tpm_ak_load(tpm, &key, $0.bindMemory(to: CChar.self).baseAddress, $0.count)
                        }
                    })
            }
        }
    }
}

extension TPM.AttestationKey {
    /// The TPM that holds the key.
    public var tpm: TPM { object.tpm }

    /// The key as a TSS2 PEM file: useless without this TPM.
    public var dataRepresentation: [UInt8] { object.pem }

    /// The TPM's Name of the key, 34 bytes.
    public var name: [UInt8] { object.name }

    /// The Name of the parent key; nil when it is not known.
    public var parentName: [UInt8]? { object.parentName }

    /// The Name that identifies the TPM's seed at the time when the key was made; nil if it is not known.
    public var witness: [UInt8]? { object.witness }

    /// Quotes PCRs of the SHA-256 bank over up to 32 bytes (`TPM2_Quote`): one TPM command while the key is loaded.
    ///
    /// - Throws: ``TenonError/Code/pcrsMissing`` when the TPM does not keep all of them, ``TenonError/Code/options`` for
    ///   none, or for one that is not from 0 to 23.
    public func quote(_ pcrs: Set<Int>, qualifyingData: [UInt8]) throws(TenonError) -> Quote {
        try tpm.using { () throws(TenonError) in try makeQuote(pcrs, qualifyingData) }
    }

    /// Quotes PCRs of the SHA-256 bank over up to 32 bytes (`TPM2_Quote`): one TPM command while the key is loaded.
    public func quote(_ pcrs: Set<Int>, qualifyingData: [UInt8]) async throws(TenonError) -> Quote {
        try await tpm.run { () throws(TenonError) in try makeQuote(pcrs, qualifyingData) }
    }

    /// The key's own statement of how it was made (`TPM2_CertifyCreation`), for attestation CAs that want it in an
    /// ``AttestRequest``.
    ///
    /// - Throws: ``TenonError/Code/notMadeHere`` when the key was loaded: only the process that made it can ask.
    public func creation() throws(TenonError) -> AttestRequest.Creation {
        try tpm.using { () throws(TenonError) in try certifyCreation() }
    }

    /// The key's own statement of how it was made (`TPM2_CertifyCreation`), for attestation CAs that want it in an
    /// ``AttestRequest``.
    public func creation() async throws(TenonError) -> AttestRequest.Creation {
        try await tpm.run { () throws(TenonError) in try certifyCreation() }
    }

    /// Opens a credential that was made for this key, and returns the value that answers its challenge. The secret does
    /// not leave the core.
    ///
    /// The TPM refuses a credential for another endorsement key, attestation key or challenge: the error's category is
    /// then `rejected`, and says nothing about the signing key.
    ///
    /// - Parameters:
    ///   - activation: the values that the credential is bound to.
    ///   - credential: the credential that came with the challenge.
    ///   - certificate: that of the endorsement key for which it was made, DER.
    /// - Throws: ``TenonError/Code/credentialForm``, ``TenonError/Code/rule22Certificate``,
    ///   ``TenonError/Code/rule36EKKey``, ``TenonError/Code/ekMissing`` when this TPM has no such key.
    public func activate(
        _ activation: Activation, with credential: Credential, certificate: [UInt8]
    ) throws(TenonError) -> Digest {
        try tpm.using { () throws(TenonError) in try answer(activation, credential, certificate) }
    }

    /// Opens a credential that was made for this key, and returns the value that answers its challenge. The secret does
    /// not leave the core.
    public func activate(
        _ activation: Activation, with credential: Credential, certificate: [UInt8]
    ) async throws(TenonError) -> Digest {
        try await tpm.run { () throws(TenonError) in try answer(activation, credential, certificate) }
    }

    /// Opens a credential and returns the secret, which the protocol of attestation CAs sends back. Never show one key
    /// to two of them.
    ///
    /// - Parameters:
    ///   - credential: the credential that the CA made.
    ///   - certificate: that of the endorsement key for which it was made, DER.
    /// - Throws: as ``activate(_:with:certificate:)``.
    public func secret(of credential: Credential, certificate: [UInt8]) throws(TenonError) -> Secret {
        try tpm.using { () throws(TenonError) in try open(credential, certificate) }
    }

    /// Opens a credential and returns the secret, which the protocol of attestation CAs sends back. Never show one key
    /// to two of them.
    public func secret(of credential: Credential, certificate: [UInt8]) async throws(TenonError) -> Secret {
        try await tpm.run { () throws(TenonError) in try open(credential, certificate) }
    }
}

// The calls of the core; they block.
extension TPM.AttestationKey {
    /// TPM2_Certify of a key.
    func certify(_ key: TPMObject, _ data: [UInt8], _ certificates: [[UInt8]]) throws(TenonError) -> Proof {
        let proof = try bytes(capacity: TENON_PROOF_MAX) { buffer, written in
            certificates.withCoreBytes { certificates, count in
                data.withUnsafeBufferPointer {
                    tenon_tpm_key_attest(
                        key.pointer, object.pointer, buffer.baseAddress, buffer.count, &written, $0.baseAddress,
                        $0.count, certificates?.assumingMemoryBound(to: tenon_bytes.self), count)
                }
            }
        }
        return Proof(dataRepresentation: proof)
    }

    private func makeQuote(_ pcrs: Set<Int>, _ data: [UInt8]) throws(TenonError) -> Quote {
        let quote = try bytes(capacity: TENON_QUOTE_MAX) { buffer, written in
            data.withUnsafeBufferPointer {
                tenon_tpm_ak_quote(
                    object.pointer, buffer.baseAddress, buffer.count, &written, $0.baseAddress, $0.count,
                    QuotePolicy.mask(pcrs))
            }
        }
        return Quote(dataRepresentation: quote)
    }

    /// The core keeps the creation ticket while the key that was made is in memory (Part 3, 18.3).
    private func certifyCreation() throws(TenonError) -> AttestRequest.Creation {
        var core = tenon_tpm_creation()
        try TenonError.check(tenon_tpm_ak_creation(object.pointer, &core))
        return AttestRequest.Creation(
            data: withUnsafeBytes(of: core.data) { Array($0.prefix(core.data_n)) },
            attestation: withUnsafeBytes(of: core.statement) { Array($0.prefix(core.statement_n)) },
            signature: withUnsafeBytes(of: core.signature) { Array($0.prefix(core.signature_n)) })
    }

    private func answer(
        _ activation: Activation, _ credential: Credential, _ certificate: [UInt8]
    ) throws(TenonError) -> Digest {
        var value = tenon_digest()
        let status = activation.withCore { activation in
            withCore(certificate, credential) { certificate, credential, encrypted in
                tenon_tpm_ak_activate(
                    object.pointer, &value, certificate.baseAddress, certificate.count, credential.baseAddress,
                    credential.count, encrypted.baseAddress, encrypted.count,
                    activation.assumingMemoryBound(to: tenon_activation.self))
            }
        }
        try TenonError.check(status)
        return try withUnsafeBytes(of: value) { value throws(TenonError) in
            try Digest(rawRepresentation: Array(value))
        }
    }

    private func open(_ credential: Credential, _ certificate: [UInt8]) throws(TenonError) -> Secret {
        try Secret(capacity: 64) { buffer, written in
            withCore(certificate, credential) { certificate, credential, encrypted in
                tenon_tpm_ak_secret(
                    object.pointer, buffer.baseAddress, buffer.count, &written, certificate.baseAddress,
                    certificate.count, credential.baseAddress, credential.count, encrypted.baseAddress,
                    encrypted.count)
            }
        }
    }

    private typealias Bytes = UnsafeBufferPointer<UInt8>

    private func withCore<Result>(
        _ certificate: [UInt8], _ credential: Credential, _ body: (Bytes, Bytes, Bytes) -> Result
    ) -> Result {
        certificate.withUnsafeBufferPointer { certificate in
            credential.idObject.withUnsafeBufferPointer { credentialBytes in
                credential.encryptedSecret.withUnsafeBufferPointer { body(certificate, credentialBytes, $0) }
            }
        }
    }
}
