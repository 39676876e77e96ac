// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// The endorsement key of a TPM, out of the certificate that the TPM's maker gave it.
///
/// It names the TPM for ever: no log holds it.
public struct EndorsementKey: Sendable {
    /// The kinds of endorsement keys (TCG EK Credential Profile). The raw values are those of `tenon/activate.h`.
    public enum Kind: UInt32, Hashable, Sendable, CaseIterable {
        case rsa2048 = 1
        case p256 = 2
        case p384 = 3
    }

    /// Which kind of key it is.
    public let kind: Kind
    let core: tenon_ek

    /// Verifies a certificate with those above it, leaf first, at most 4.
    ///
    /// - Throws: the code of the first rule that does not hold; see ``verify(_:policy:)``.
    public init(verifying chain: [[UInt8]], policy: EndorsementPolicy) throws(TenonError) {
        let (key, report) = EndorsementKey.verify(chain, policy: policy)
        try report.check()
        guard let key else { throw TenonError(status: tenon_status(TENON_ERROR_NULL)) }
        self = key
    }

    /// Reads what a certificate says about the key, without verifying it, for a device that looks for that key in its
    /// own TPM. A service uses ``init(verifying:policy:)``.
    ///
    /// - Throws: ``TenonError/Code/rule22Certificate``, ``TenonError/Code/rule36EKKey``.
    public init(unverified certificate: [UInt8]) throws(TenonError) {
        var core = tenon_ek()
        try TenonError.check(tenon_ek_read(&core, certificate.span))
        guard let key = EndorsementKey(core: core) else { throw TenonError(status: tenon_status(TENON_RULE_36_EK_KEY)) }
        self = key
    }

    /// Verifies a certificate with those above it, leaf first, at most 4, and says what was checked.
    ///
    /// Checks the rules of `tenon/activate.h` in order: the form of each certificate, before any signature (22, 23);
    /// the chain from the root down (33); what the leaf says (34, 35); the key (36); and that neither the key nor its
    /// maker is denied (37).
    ///
    /// - Returns: nil and a report when a rule does not hold.
    public static func verify(
        _ chain: [[UInt8]], policy: EndorsementPolicy
    ) -> (key: EndorsementKey?, report: VerificationReport) {
        var core = tenon_ek()
        let report = VerificationReport { report in
            chain.withCoreBytes { chain, count in
                policy.withCore {
                    tenon_ek_verify(&core, &report, chain?.assumingMemoryBound(to: tenon_bytes.self), count, $0)
                }
            }
        }
        return (report.verdict == .accepted ? EndorsementKey(core: core) : nil, report)
    }

    /// Finds the certificate in bytes from NV, without the bytes that makers put before and after it.
    ///
    /// - Throws: ``TenonError/Code/certificateForm`` when there is anything else.
    public static func certificate(fromNV bytes: [UInt8]) throws(TenonError) -> [UInt8] {
        var certificate: [UInt8] = []
        let status = bytes.withUnsafeBufferPointer { bytes in
            var core = tenon_bytes()
            let status = tenon_certificate_trim(&core, bytes.baseAddress, bytes.count)
            if status == 0 { certificate = [UInt8](core: core) }
            return status
        }
        try TenonError.check(status)
        return certificate
    }

    /// The id of the key: the SHA-256 of its SubjectPublicKeyInfo.
    public var id: Digest { Digest(core: core.id) }

    /// The SHA-256 of the certificate.
    public var certificateDigest: Digest { Digest(core: core.certificate) }

    /// An RSA modulus, or x || y.
    public var rawRepresentation: [UInt8] { withUnsafeBytes(of: core.key) { Array($0.prefix(core.key_n)) } }

    /// The TPM's maker as the certificate has it, as `id:49465800`.
    public var maker: String { text(core.maker, core.maker_n) }
    /// The TPM's model as the certificate has it.
    public var model: String { text(core.model, core.model_n) }
    /// The TPM's version as the certificate has it, as `id:00070055`.
    public var version: String { text(core.version, core.version_n) }

    private init?(core: tenon_ek) {
        guard let kind = Kind(rawValue: core.kind) else { return nil }
        self.kind = kind
        self.core = core
    }

    private func text<Text>(_ text: Text, _ count: Int) -> String {
        withUnsafeBytes(of: text) { String(decoding: $0.prefix(count), as: UTF8.self) }
    }
}

extension EndorsementKey: Hashable {
    public static func == (left: EndorsementKey, right: EndorsementKey) -> Bool {
        left.certificateDigest == right.certificateDigest
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(certificateDigest) }
}

extension EndorsementKey {
    /// The key's SubjectPublicKeyInfo as RFC 3279 (2.3.1) and RFC 5480 (2) write it: what ``id`` is the SHA-256 of. Nil
    /// for a certificate that writes the same key in another way.
    public var subjectPublicKeyInfo: [UInt8]? {
        get throws(TenonError) {
            let key = rawRepresentation
            let info =
                switch kind {
                case .rsa2048: EndorsementKey.rsaHead + key + EndorsementKey.rsaTail
                case .p256: EndorsementKey.p256Head + key
                case .p384: EndorsementKey.p384Head + key
                }
            return try Digest(hashing: info) == id ? info : nil
        }
    }

    // rsaEncryption, a modulus of 2048 bits, 65537.
    private static let rsaHead: [UInt8] = [
        0x30, 0x82, 0x01, 0x22, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05,
        0x00,
        0x03, 0x82, 0x01, 0x0f, 0x00, 0x30, 0x82, 0x01, 0x0a, 0x02, 0x82, 0x01, 0x01, 0x00,
    ]
    private static let rsaTail: [UInt8] = [0x02, 0x03, 0x01, 0x00, 0x01]
    // id-ecPublicKey, secp256r1 and secp384r1, an uncompressed point.
    private static let p256Head: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
        0xce,
        0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]
    private static let p384Head: [UInt8] = [
        0x30, 0x76, 0x30, 0x10, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x05, 0x2b, 0x81, 0x04,
        0x00,
        0x22, 0x03, 0x62, 0x00, 0x04,
    ]
}
