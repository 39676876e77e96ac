// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// What a TPM says about its PCRs, signed by an attestation key for one nonce (`TPM2_Quote`), as it travels.
///
/// A quote that came from somebody is worth nothing until ``verify(nonce:by:policy:)`` accepted it.
public struct Quote: Hashable, Sendable {
    /// The CBOR, see `tenon/quote.h`.
    public let dataRepresentation: [UInt8]

    /// Takes what came; nothing is read yet.
    public init(dataRepresentation: [UInt8]) { self.dataRepresentation = dataRepresentation }

    /// Verifies that the TPM of this attestation key made the quote for this nonce.
    ///
    /// - Parameters:
    ///   - nonce: the 32 bytes that the quote was asked for.
    ///   - ak: the attestation key, which is known from a proof or a certificate that was accepted.
    ///   - policy: what is demanded.
    /// - Throws: the code of the first rule that does not hold: `quote...`, or `cbor...`.
    @discardableResult
    public func verify(
        nonce: Digest, by ak: PublicKey, policy: QuotePolicy
    ) throws(TenonError) -> VerificationReport {
        let report = report(nonce: nonce, by: ak, policy: policy)
        try report.check()
        return report
    }

    /// Verifies like ``verify(nonce:by:policy:)``, and reports what was checked, even for a refused quote.
    public func report(nonce: Digest, by ak: PublicKey, policy: QuotePolicy) -> VerificationReport {
        VerificationReport { report in
            policy.withCore { policy in
                dataRepresentation.withUnsafeBufferPointer { quote in
                    withUnsafePointer(to: nonce.core) { nonce in
                        withUnsafePointer(to: ak.core) {
                            tenon_quote_verify(&report, quote.baseAddress, quote.count, nonce, $0, policy)
                        }
                    }
                }
            }
        }
    }
}

/// The requirements for a ``Quote``.
public struct QuotePolicy: Hashable, Sendable {
    /// The PCRs of the SHA-256 bank that are quoted, each from 0 to 23, at least one.
    public var pcrs: Set<Int>
    /// The digests that are accepted: each the SHA-256 of the PCRs' values in ascending order of the PCRs. Without any
    /// the values are only noted in the report.
    public var digests: [Digest]

    /// Demands a quote of these PCRs.
    public init(pcrs: Set<Int>, digests: [Digest] = []) {
        self.pcrs = pcrs
        self.digests = digests
    }

    /// The PCRs as the core takes them. One that does not exist makes the whole selection invalid.
    package static func mask(_ pcrs: Set<Int>) -> UInt32 {
        pcrs.allSatisfy { 0..<Int(TENON_PCRS_MAX) ~= $0 } ? pcrs.reduce(0) { $0 | 1 << UInt32($1) } : 0
    }

    fileprivate func withCore<Result>(_ body: (UnsafePointer<tenon_quote_policy>) -> Result) -> Result {
        digests.map(\.core).withUnsafeBufferPointer { digests in
            var core = tenon_quote_policy()
            core.size = MemoryLayout<tenon_quote_policy>.size
            core.pcrs = Self.mask(pcrs)
            core.digests = digests.baseAddress
            core.digests_count = digests.count
            return withUnsafePointer(to: core, body)
        }
    }
}

extension PublicKey {
    /// The P-256 key of a certificate (DER), which is not verified: for the attestation key of a proof that was
    /// accepted.
    ///
    /// - Throws: ``TenonError/Code/certificateForm``.
    public init(ofCertificate der: [UInt8]) throws(TenonError) {
        var key = tenon_public_key()
        try TenonError.check(tenon_certificate_public_key(&key, der.span))
        self.init(core: key)
    }
}

// The rules of `tenon/quote.h`, each by its number there.
extension TenonError.Code {
    /// A part of the quote is larger than allowed.
    public static let quote1Size = Self(TENON_QUOTE_1_SIZE)
    /// The quote is not deterministic CBOR.
    public static let quote2CBOR = Self(TENON_QUOTE_2_CBOR)
    /// The quote has an unsupported format, version or algorithm.
    public static let quote3Version = Self(TENON_QUOTE_3_VERSION)
    /// The quote's statement cannot be read to its end, or has bytes after it.
    public static let quote4Trailing = Self(TENON_QUOTE_4_TRAILING)
    /// The quote's statement was not made by a TPM.
    public static let quote5Magic = Self(TENON_QUOTE_5_MAGIC)
    /// The quote's statement is not about PCRs.
    public static let quote6Type = Self(TENON_QUOTE_6_TYPE)
    /// The quote is not for this nonce.
    public static let quote7Nonce = Self(TENON_QUOTE_7_NONCE)
    /// The quote is not about exactly one bank of PCRs, that of SHA-256.
    public static let quote8Bank = Self(TENON_QUOTE_8_BANK)
    /// The quote is about other PCRs than required.
    public static let quote9PCRs = Self(TENON_QUOTE_9_PCRS)
    /// The PCRs do not have accepted values.
    public static let quote10Values = Self(TENON_QUOTE_10_VALUES)
    /// The signature of the quote has an unsupported algorithm.
    public static let quote11Algorithm = Self(TENON_QUOTE_11_ALGORITHM)
    /// r or s of the signature of the quote is out of range.
    public static let quote12Range = Self(TENON_QUOTE_12_RANGE)
    /// The quote was not signed by the attestation key.
    public static let quote13Signature = Self(TENON_QUOTE_13_SIGNATURE)
}
