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

    /// What a certificate says of the key, with nobody vouching for it: for a device, which looks for that key in its
    /// own TPM. A service takes ``init(verifying:policy:)``.
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
    /// In order: the form of each certificate, before any signature is checked (24); the chain from the root down (32);
    /// what the leaf says (31); the key (33); and that neither it nor its maker is denied (33a).
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

    /// The certificate in bytes that were read from NV, without what makers put before and behind it there.
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

    /// By what the key is known: the SHA-256 of its SubjectPublicKeyInfo.
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
