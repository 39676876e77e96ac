// SPDX-License-Identifier: Apache-2.0

/// What a device asks of an attestation CA: the body of `POST /attest`.
///
/// The messages are those of the step client (smallstep/crypto, `tpm/attestation`): this one, ``AttestAnswer``,
/// ``SecretRequest``, ``SecretAnswer``. That client reads no body of an answer whose HTTP status is 400 or more, and
/// sends no content type. A message is read strictly where it is read at all: no member twice, each of its type and
/// size. Members that are not known are passed over, as Go's reader does for which these messages were made: other
/// clients send more.
///
/// Nothing in it is believed but what the certificate of the endorsement key and the activation show. In particular
/// ``creation``, the AK's statement about its own making, is not judged: `TPM2_ActivateCredential` succeeds only for an
/// AK with exactly this public area, which says itself that the key was born in that TPM, and the statement is signed
/// by nobody else than the key that it is about.
///
/// An attestation CA is told the secret itself, and could pass on the credential of another one. So an AK is shown to
/// one attestation CA only, and the device's record keeps the CA's origin beside the AK, as `ak_authority`, before this
/// request leaves.
public struct AttestRequest: Hashable, Sendable {
    /// What the TPM says of itself. For people: certificates name the TPM as its maker does.
    public struct TPMDescription: Hashable, Sendable {
        /// TPM_PT_MANUFACTURER.
        public var manufacturer: UInt32?
        public var model: String?
        public var firmwareVersion: String?

        public init(manufacturer: UInt32? = nil, model: String? = nil, firmwareVersion: String? = nil) {
            self.manufacturer = manufacturer
            self.model = model
            self.firmwareVersion = firmwareVersion
        }
    }

    /// What `TPM2_CertifyCreation` of the AK by itself gave, as other CAs may ask for it.
    public struct Creation: Hashable, Sendable {
        /// TPMS_CREATION_DATA.
        public var data: [UInt8]
        /// TPMS_ATTEST.
        public var attestation: [UInt8]
        /// TPMT_SIGNATURE.
        public var signature: [UInt8]

        public init(data: [UInt8], attestation: [UInt8], signature: [UInt8]) {
            self.data = data
            self.attestation = attestation
            self.signature = signature
        }
    }

    public var tpm: TPMDescription
    /// The endorsement key, SubjectPublicKeyInfo. It may be left out; the certificate decides.
    public var ek: [UInt8]?
    /// The endorsement key's certificate and those above it, DER, leaf first.
    public var ekCertificates: [[UInt8]]
    /// A certificate that the AK has already.
    public var akCertificate: [UInt8]?
    /// The AK, TPMT_PUBLIC.
    public var ak: [UInt8]
    public var creation: Creation?

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

    /// What a device with this AK asks, with its endorsement key spelt out.
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
