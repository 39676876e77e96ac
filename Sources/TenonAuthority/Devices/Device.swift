// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A device of an app, as the authority knows it (decision: same-key-again).
package struct Device: Equatable, Sendable {
    package enum State: String, Sendable {
        case active
        /// It has registered and waits for an operator: its signatures are refused.
        case pending
        /// An operator rejected it, permanently.
        case rejected
        /// Permanently: its signatures are refused, and its keys cannot be registered again.
        case revoked
    }

    /// The evidence for the device's key.
    package enum Level: String, Sendable {
        /// The AK of a TPM with a certificate vouches for it.
        case attested
        /// There is no evidence.
        case unattested
        /// There is no evidence, and the device itself says that its key is software: for development only.
        case software
    }

    /// The TPM behind the device.
    package struct Attestation: Equatable, Sendable {
        /// HMAC(K_ek, ek_id). It is never shown.
        package var ek: Digest
        package var akName: [UInt8]
        /// The AK's TPMT_PUBLIC, under which a rotation's proof is verified.
        package var akPublic: [UInt8]

        package init(ek: Digest, akName: [UInt8], akPublic: [UInt8]) {
            self.ek = ek
            self.akName = akName
            self.akPublic = akPublic
        }
    }

    /// The authority's own id of the device; it never comes from a request.
    package var id: String
    package var app: String
    package var state: State
    package var level: Level
    package var publicKey: PublicKey
    /// The RFC 7638 thumbprint of the public key.
    package var thumbprint: String
    package var attestation: Attestation?
    /// The serial of the AK certificate that was last issued or shown.
    package var akSerial: [UInt8]?
    /// The signature versions that the device registered; others are refused for it. They change with its key, and with
    /// a registration that a TPM vouches for: anybody can send a public key again (decision: signature-versions).
    package var signatureVersions: [Int]
    package var platform: String?
    /// The device's own name for itself. It is only data: it selects and overwrites nothing.
    package var localID: String?
    /// Unix seconds.
    package var registeredAt: Int64
    package var keyRotatedAt: Int64?
    package var revokedAt: Int64?

    package init(
        id: String, app: String, state: State = .active, level: Level, publicKey: PublicKey, thumbprint: String,
        attestation: Attestation? = nil, akSerial: [UInt8]? = nil, signatureVersions: [Int] = [1],
        platform: String? = nil, localID: String? = nil, registeredAt: Int64, keyRotatedAt: Int64? = nil,
        revokedAt: Int64? = nil
    ) {
        self.id = id
        self.app = app
        self.state = state
        self.level = level
        self.publicKey = publicKey
        self.thumbprint = thumbprint
        self.attestation = attestation
        self.akSerial = akSerial
        self.signatureVersions = signatureVersions
        self.platform = platform
        self.localID = localID
        self.registeredAt = registeredAt
        self.keyRotatedAt = keyRotatedAt
        self.revokedAt = revokedAt
    }
}

/// An earlier key of a device.
package struct RetiredKey: Equatable, Sendable {
    package var publicKey: PublicKey
    /// Unix seconds.
    package var retiredAt: Int64

    package init(publicKey: PublicKey, retiredAt: Int64) {
        self.publicKey = publicKey
        self.retiredAt = retiredAt
    }
}

/// Some devices of a list, in the order in which they were registered.
package struct DevicePage: Equatable, Sendable {
    package var devices: [Device]
    /// The place at which the next page begins; nil after the last page.
    package var next: Int64?
    /// Ids of devices whose rows cannot be read.
    package var damaged: [String] = []

    package init(devices: [Device], next: Int64?) {
        self.devices = devices
        self.next = next
    }
}

/// The authority's record of an AK certificate that it issued (decision: ak-certificate).
package struct AKCertificate: Equatable, Sendable {
    /// 16 random bytes.
    package var serial: [UInt8]
    /// The only app for which the certificate is valid.
    package var app: String
    /// HMAC(K_ek, ek_id).
    package var ek: Digest
    package var akName: [UInt8]
    /// The device that it was issued to or that showed it; nil before its registration.
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
