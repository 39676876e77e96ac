// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// How much of certificates and credentials is taken, as `tenon/proof.h` and `tenon/activate.h` say.
enum CertificateLimits {
    /// Bytes of one.
    static let size = Int(TENON_CERTIFICATE_MAX)
    /// Of a chain.
    static let count = Int(TENON_CERTIFICATES_MAX)
    /// Bytes of either part of a credential.
    static let credential = Int(TENON_CREDENTIAL_MAX)
}
