// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// What the authority records of an AK certificate that it issued (decision: ak-certificate).
package struct AKCertificate: Equatable, Sendable {
    /// 16 random bytes.
    package var serial: [UInt8]
    /// A certificate is good for this app only.
    package var app: String
    /// HMAC(K_ek, ek_id).
    package var ek: Digest
    package var akName: [UInt8]
    /// The device that it was issued to or that showed it; none before its registration.
    package var device: String?
    /// Unix seconds.
    package var notAfter: Int64
    /// False once it, its device or its EK was revoked.
    package var isLive: Bool

    package init(
        serial: [UInt8], app: String, ek: Digest, akName: [UInt8], device: String? = nil, notAfter: Int64,
        isLive: Bool = true
    ) {
        self.serial = serial
        self.app = app
        self.ek = ek
        self.akName = akName
        self.device = device
        self.notAfter = notAfter
        self.isLive = isLive
    }
}
