// SPDX-License-Identifier: Apache-2.0

/// What is particular to one certificate.
public struct CertificateTerms: Hashable, Sendable {
    /// 16 bytes, which are not all zeros: a random number, by which the certificate is known to whoever issued it.
    public var serial: [UInt8]
    /// Unix seconds.
    public var notBefore: Int64
    /// Unix seconds.
    public var notAfter: Int64

    public init(serial: [UInt8], notBefore: Int64, notAfter: Int64) {
        self.serial = serial
        self.notBefore = notBefore
        self.notAfter = notAfter
    }
}
