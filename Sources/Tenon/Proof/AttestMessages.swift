// SPDX-License-Identifier: Apache-2.0

/// A device's request to an attestation CA: the body of `POST /attest`.
///
/// The messages are those of the step client (smallstep/crypto, `tpm/attestation`): this one, ``AttestAnswer``,
/// ``SecretRequest``, ``SecretAnswer``. That client reads no body of an answer whose HTTP status is 400 or more, and
/// sends no content type. Members that are read are read strictly: no member twice, each with its type and
/// size. Unknown members are ignored, as by Go's reader, for which these messages were made: other
/// clients send more.
///
/// Only what the endorsement key's certificate and the activation show is believed. In particular
/// ``creation``, the AK's statement about its own making, is not judged: `TPM2_ActivateCredential` succeeds only for an
/// AK with exactly this public area, which itself says that the key was created in that TPM, and only the key that the
/// statement is about signs it.
///
/// An attestation CA gets the secret itself, and could forward another CA's credential. So an AK is shown to one
/// attestation CA only, and the device's record keeps the CA's origin beside the AK, as `shown_to`, before this request
/// leaves.
public struct AttestRequest: Hashable, Sendable {
    /// What the TPM says of itself. For people: certificates name the TPM as its maker does.
    public struct TPMDescription: Hashable, Sendable {
        /// TPM_PT_MANUFACTURER.
        public var manufacturer: UInt32?
        /// The maker's name of the model.
        public var model: String?
        /// The firmware, as `major.minor`.
        public var firmwareVersion: String?

        /// Describes a TPM, as far as it is known.
        public init(manufacturer: UInt32? = nil, model: String? = nil, firmwareVersion: String? = nil) {
            self.manufacturer = manufacturer
            self.model = model
            self.firmwareVersion = firmwareVersion
        }
    }

    /// The result of `TPM2_CertifyCreation` of the AK by itself, which other CAs may ask for.
    public struct Creation: Hashable, Sendable {
        /// TPMS_CREATION_DATA.
        public var data: [UInt8]
        /// TPMS_ATTEST.
        public var attestation: [UInt8]
        /// TPMT_SIGNATURE.
        public var signature: [UInt8]

        /// Takes the three structures as the TPM wrote them.
        public init(data: [UInt8], attestation: [UInt8], signature: [UInt8]) {
            self.data = data
            self.attestation = attestation
            self.signature = signature
        }
    }

    /// The TPM, for people.
    public var tpm: TPMDescription
    /// The endorsement key, SubjectPublicKeyInfo. It may be left out; the certificate decides.
    public var ek: [UInt8]?
    /// The endorsement key's certificate and those above it, DER, leaf first.
    public var ekCertificates: [[UInt8]]
    /// A certificate that the AK has already.
    public var akCertificate: [UInt8]?
    /// The AK, TPMT_PUBLIC.
    public var ak: [UInt8]
    /// The AK's statement about its own making.
    public var creation: Creation?

    /// Makes a request of its parts.
    public init(
        ekCertificates: [[UInt8]], ak: [UInt8], ek: [UInt8]? = nil, tpm: TPMDescription = TPMDescription(),
        akCertificate: [UInt8]? = nil, creation: Creation? = nil
    ) {
        self.tpm = tpm
        self.ek = ek
        self.ekCertificates = ekCertificates
        self.akCertificate = akCertificate
        self.ak = ak
        self.creation = creation
    }

    /// Makes the request of a device with this AK, including its endorsement key.
    ///
    /// - Throws: ``TenonError/Code/rule22Certificate`` without a certificate, or as
    ///   ``EndorsementKey/init(unverified:)``.
    public init(
        ekCertificates: [[UInt8]], ak: PublicArea, tpm: TPMDescription = TPMDescription(), creation: Creation? = nil
    ) throws(TenonError) {
        guard let certificate = ekCertificates.first else {
            throw TenonError(status: TenonError.Code.rule22Certificate.rawValue)
        }
        let ek = try EndorsementKey(unverified: certificate)
        self.init(
            ekCertificates: ekCertificates, ak: ak.dataRepresentation, ek: try ek.subjectPublicKeyInfo, tpm: tpm,
            creation: creation)
    }
}

extension AttestRequest {
    /// Bytes of a request's body: larger ones are not read.
    public static let maxBytes = 32_768

    static let maxText = 128
    /// For what is read here and judged elsewhere or not at all: keys and statements of TPMs.
    static let structureSizes = 1...1_024

    /// go-attestation counts the versions of TPMs: 2 is TPM 2.0.
    private static let tpm2: Int64 = 2

    /// Reads a request.
    ///
    /// - Throws: a `json...` or `base64...` code, or ``TenonError/Code/messageMember``, whose message names the member.
    public init(parsing body: [UInt8]) throws(TenonError) {
        let message = try MessageObject(parsing: body, maxBytes: AttestRequest.maxBytes)
        guard let parameters = try message.object("params") else { throw message.missing("params") }
        guard let ak = try parameters.bytes("public", sizes: AttestRequest.structureSizes) else {
            throw parameters.missing("public")
        }
        guard try parameters.bool("useTCSDActivationFormat") != true else {
            throw parameters.refusal("useTCSDActivationFormat", "is for TPM 1.2")
        }
        self.init(
            ekCertificates: try message.certificates("ekCerts") ?? [], ak: ak,
            ek: try message.bytes("ek", sizes: AttestRequest.structureSizes),
            tpm: try AttestRequest.readTPM(try message.object("tpmInfo")),
            akCertificate: try message.bytes("akCert", sizes: MessageObject.certificateSizes),
            creation: try AttestRequest.readCreation(parameters))
    }

    private static func readTPM(_ info: MessageObject?) throws(TenonError) -> TPMDescription {
        guard let info else { return TPMDescription() }
        guard try info.integer("version") ?? tpm2 == tpm2 else {
            throw info.refusal("version", "is not that of TPM 2.0")
        }
        var tpm = TPMDescription()
        if let text = try info.text("manufacturer", maxBytes: maxText) {
            // Not UInt32(text) alone, which takes a sign.
            guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let manufacturer = UInt32(text) else {
                throw info.refusal("manufacturer", "is not a decimal number of 32 bits")
            }
            tpm.manufacturer = manufacturer
        }
        tpm.model = try info.text("model", maxBytes: maxText)
        tpm.firmwareVersion = try info.text("firmwareVersion", maxBytes: maxText)
        return tpm
    }

    private static func readCreation(_ parameters: MessageObject) throws(TenonError) -> Creation? {
        let data = try parameters.bytes("createData", sizes: structureSizes)
        let attestation = try parameters.bytes("createAttestation", sizes: structureSizes)
        let signature = try parameters.bytes("createSignature", sizes: structureSizes)
        switch (data, attestation, signature) {
        case (nil, nil, nil): return nil
        case (let data?, let attestation?, let signature?):
            return Creation(data: data, attestation: attestation, signature: signature)
        case (nil, _, _): throw parameters.missing("createData")
        case (_, nil, _): throw parameters.missing("createAttestation")
        default: throw parameters.missing("createSignature")
        }
    }

    /// The body.
    public func encoded() throws(TenonError) -> [UInt8] {
        var message = JSONObject()
        message["tpmInfo"] = tpmInfo
        message["ek"] = ek.map(JSON.init(base64:))
        message["ekCerts"] = JSON(base64: ekCertificates)
        message["akCert"] = akCertificate.map(JSON.init(base64:))
        message["params"] = parameters
        return try JSON.object(message).encoded()
    }

    private var tpmInfo: JSON {
        var info = JSONObject()
        info["version"] = .integer(AttestRequest.tpm2)
        info["manufacturer"] = tpm.manufacturer.map { .string(String($0)) }
        info["model"] = tpm.model.map(JSON.string)
        info["firmwareVersion"] = tpm.firmwareVersion.map(JSON.string)
        return .object(info)
    }

    private var parameters: JSON {
        var parameters = JSONObject()
        parameters["public"] = JSON(base64: ak)
        parameters["createData"] = (creation?.data).map(JSON.init(base64:))
        parameters["createAttestation"] = (creation?.attestation).map(JSON.init(base64:))
        parameters["createSignature"] = (creation?.signature).map(JSON.init(base64:))
        return .object(parameters)
    }
}

/// An attestation CA's answer to an ``AttestRequest``: a secret that only the TPM of that endorsement key can open,
/// and only for that AK.
public struct AttestAnswer: Hashable, Sendable {
    /// Bytes of an answer's body: larger ones are not read.
    public static let maxBytes = 65_536

    /// The credential, whose secret the TPM opens.
    public var credential: Credential

    /// Makes an answer that carries a credential.
    public init(_ credential: Credential) { self.credential = credential }

    /// Reads an answer. The TPM decides whether the credential is valid.
    ///
    /// - Throws: a `json...` or `base64...` code, or ``TenonError/Code/messageMember``, whose message names the member;
    ///   ``TenonError/Code/credentialForm`` if a part is not a TPM2B.
    public init(parsing body: [UInt8]) throws(TenonError) {
        let message = try MessageObject(parsing: body, maxBytes: AttestAnswer.maxBytes)
        self.init(
            Credential(
                idObject: try AttestAnswer.part("credential", of: message),
                encryptedSecret: try AttestAnswer.part("secret", of: message)))
    }

    /// TPM 2.0 Part 2, 10.4: two bytes of size, and as many bytes.
    private static func part(_ name: String, of message: MessageObject) throws(TenonError) -> [UInt8] {
        guard let part = try message.bytes(name, sizes: 1...CertificateLimits.credential) else {
            throw message.missing(name)
        }
        guard part.count > 2, Int(part[0]) << 8 | Int(part[1]) == part.count - 2 else {
            throw TenonError(.credentialForm, message: "The message's \(name) is not a TPM2B.")
        }
        return part
    }

    /// The body.
    public func encoded() throws(TenonError) -> [UInt8] {
        let message: JSON = [
            "credential": JSON(base64: credential.idObject), "secret": JSON(base64: credential.encryptedSecret),
        ]
        return try message.encoded()
    }
}
