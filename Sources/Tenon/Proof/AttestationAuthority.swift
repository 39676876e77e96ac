// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// Who issues certificates for attestation keys: a certificate, and the key that it is of.
///
/// ```swift
/// let root = try AttestationAuthority(root: "Example AK Root", key: rootKey, terms: terms)
/// let below = try root.certificate(forAuthority: "Example AK Issuer", key: issuerKey.publicKey, terms: terms)
/// let issuer = AttestationAuthority(certificate: below, key: issuerKey)
/// let leaf = try issuer.certificate(for: ak, of: ek, terms: terms)
/// ```
///
/// Issuing blocks the caller's thread for one signature. Terms that no certificate has are ``TenonError/Code/options``.
public struct AttestationAuthority: Sendable {
    /// The authority's own certificate, DER.
    public let certificate: [UInt8]
    private let key: any DigestSigner

    /// Takes an authority that has its certificate. Whether it may issue is seen when it does.
    public init(certificate: [UInt8], key: any DigestSigner) {
        self.certificate = certificate
        self.key = key
    }

    /// Makes a root with a self-signed certificate; one authority may be below it.
    ///
    /// - Parameter name: its common name, 1 to 64 bytes.
    public init(root name: String, key: any DigestSigner, terms: CertificateTerms) throws(TenonError) {
        self.key = key
        certificate = try AttestationAuthority.issue(name, nil, [], key, terms)
    }

    /// A certificate for an authority below this one. That one issues for attestation keys only.
    ///
    /// - Throws: ``TenonError/Code/certificateForm`` when this one may not, or its certificate is not its key's.
    public func certificate(
        forAuthority name: String, key: PublicKey, terms: CertificateTerms
    ) throws(TenonError) -> [UInt8] {
        try AttestationAuthority.issue(name, key, certificate, self.key, terms)
    }

    /// Issues a certificate for an attestation key. It names the TPM's maker, model and version as the endorsement
    /// key's certificate does, and nothing else from it.
    ///
    /// - Throws: ``TenonError/Code/rule29AK`` when the key is none; ``TenonError/Code/certificateForm`` when this
    ///   authority may not, or its certificate is not its key's.
    public func certificate(
        for ak: PublicArea, of ek: EndorsementKey, terms: CertificateTerms
    ) throws(TenonError) -> [UInt8] {
        try certificate(for: ak, core: ek.core, terms: terms)
    }

    /// The same, by what was kept of the endorsement key's certificate.
    ///
    /// - Throws: ``TenonError/Code/tooLarge`` for texts that no certificate has.
    package func certificate(
        for ak: PublicArea, maker: [UInt8], model: [UInt8], version: [UInt8], terms: CertificateTerms
    ) throws(TenonError) -> [UInt8] {
        var ek = tenon_ek()
        guard max(maker.count, model.count, version.count) <= TENON_EK_TEXT_MAX else {
            throw TenonError(.tooLarge, message: "A TPM's maker, model and version must have at most 64 bytes each.")
        }
        withUnsafeMutableBytes(of: &ek.maker) { $0.copyBytes(from: maker) }
        withUnsafeMutableBytes(of: &ek.model) { $0.copyBytes(from: model) }
        withUnsafeMutableBytes(of: &ek.version) { $0.copyBytes(from: version) }
        (ek.maker_n, ek.model_n, ek.version_n) = (maker.count, model.count, version.count)
        return try certificate(for: ak, core: ek, terms: terms)
    }

    private func certificate(
        for ak: PublicArea, core ek: tenon_ek, terms: CertificateTerms
    ) throws(TenonError) -> [UInt8] {
        let key = try CoreKey(asking: key)
        let serial = try terms.coreSerial
        return try bytes(capacity: TENON_CERTIFICATE_MAX) { buffer, written in
            ak.dataRepresentation.withCoreBytes { ak in
                withUnsafePointer(to: ek) { ek in
                    certificate.withUnsafeBufferPointer {
                        var request = tenon_ak_request()
                        request.size = MemoryLayout<tenon_ak_request>.size
                        request.ak = ak
                        request.ek = ek
                        request.serial = serial
                        request.not_before = terms.notBefore
                        request.not_after = terms.notAfter
                        return tenon_ak_certificate_issue(
                            buffer.baseAddress, buffer.count, &written, key.handle, $0.baseAddress, $0.count, &request)
                    }
                }
            }
        }
    }

    private static func issue(
        _ name: String, _ subject: PublicKey?, _ issuer: [UInt8], _ key: any DigestSigner, _ terms: CertificateTerms
    ) throws(TenonError) -> [UInt8] {
        let key = try CoreKey(asking: key)
        let serial = try terms.coreSerial
        return try bytes(capacity: TENON_CERTIFICATE_MAX) { buffer, written in
            name.withCoreText { name, nameCount in
                issuer.withCoreBytes { issuer in
                    withUnsafePointer(to: (subject ?? key.publicKey).core) { subject in
                        var request = tenon_authority_request()
                        request.size = MemoryLayout<tenon_authority_request>.size
                        request.name = name
                        request.name_n = nameCount
                        request.serial = serial
                        request.not_before = terms.notBefore
                        request.not_after = terms.notAfter
                        request.key = subject
                        request.issuer = issuer
                        return tenon_authority_certificate_issue(
                            buffer.baseAddress, buffer.count, &written, key.handle, &request)
                    }
                }
            }
        }
    }
}

extension CertificateTerms {
    typealias CoreSerial = (
        UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8
    )

    fileprivate var coreSerial: CoreSerial {
        get throws(TenonError) {
            guard let bytes = InlineArray<16, UInt8>(copying: serial.span) else {
                throw TenonError(.length, message: "A certificate's serial number needs 16 bytes, not \(serial.count).")
            }
            return unsafeBitCast(bytes, to: CoreSerial.self)
        }
    }
}

/// The fields that differ from one certificate to the next.
public struct CertificateTerms: Hashable, Sendable {
    /// 16 random bytes, not all zeros. The issuer identifies the certificate by them.
    public var serial: [UInt8]
    /// Unix seconds.
    public var notBefore: Int64
    /// Unix seconds.
    public var notAfter: Int64

    /// Takes a serial number and the time for which the certificate is good.
    public init(serial: [UInt8], notBefore: Int64, notAfter: Int64) {
        self.serial = serial
        self.notBefore = notBefore
        self.notAfter = notAfter
    }
}

/// How much of certificates and credentials is taken, as `tenon/proof.h` and `tenon/activate.h` say.
enum CertificateLimits {
    /// Bytes of one.
    static let size = Int(TENON_CERTIFICATE_MAX)
    /// Certificates of a chain.
    static let count = Int(TENON_CERTIFICATES_MAX)
    /// Bytes of either part of a credential.
    static let credential = Int(TENON_CREDENTIAL_MAX)
}
