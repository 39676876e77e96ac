// SPDX-License-Identifier: Apache-2.0
internal import CTenonTPM
public import Tenon

extension TPM {
    /// A TPM's report about itself.
    public struct Info: Hashable, Sendable {
        /// The maker's four characters, as `IFX`.
        public let maker: String
        /// The vendor string.
        public let model: String
        /// The firmware version: its first number in the upper 32 bits, its second in the lower.
        public let firmware: UInt64
        /// The revision of the specification: 159 is 1.59.
        public let revision: Int

        /// Whether the owner hierarchy has an auth value.
        public let isOwnerAuthSet: Bool
        /// Whether the endorsement hierarchy has an auth value.
        public let isEndorsementAuthSet: Bool
        /// Whether lockout has an auth value. If not, every user that may open the node can clear the TPM.
        public let isLockoutAuthSet: Bool
        /// Whether clearing by the lockout auth is switched off.
        public let isClearDisabled: Bool
        /// Whether the owner hierarchy is switched on.
        public let isStorageEnabled: Bool
        /// Whether the endorsement hierarchy is switched on.
        public let isEndorsementEnabled: Bool

        /// The protection against guessing of auth values.
        public let lockout: Lockout
        /// Which endorsement key certificates the TPM holds.
        public let ekCertificates: EKCertificates
    }

    /// The protection against guessing of auth values.
    public struct Lockout: Hashable, Sendable {
        /// Whether the TPM is locked: no key that is under its protection can be used.
        public let isLocked: Bool
        /// Failed tries that count.
        public let failedTries: Int
        /// The number of tries at which the TPM locks.
        public let maximumTries: Int
        /// After how long one try is forgiven.
        public let interval: Duration
        /// After how long the lockout auth may be tried again.
        public let recovery: Duration
    }

    /// The templates of endorsement keys (TCG EK Credential Profile) for which there is a certificate.
    public struct EKCertificates: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt32

        /// Templates of these bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// L-1: RSA-2048.
        public static let rsa2048Low = EKCertificates(rawValue: 1 << 0)
        /// L-2: P-256.
        public static let p256Low = EKCertificates(rawValue: 1 << 1)
        /// H-1: RSA-2048.
        public static let rsa2048High = EKCertificates(rawValue: 1 << 2)
        /// H-2: P-256.
        public static let p256High = EKCertificates(rawValue: 1 << 3)
        /// H-3: P-384.
        public static let p384High = EKCertificates(rawValue: 1 << 4)
    }
}

extension TPM.Info {
    init(core: tenon_tpm_info) {
        maker = withUnsafeBytes(of: core.maker) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        model = withUnsafeBytes(of: core.model) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        firmware = UInt64(core.firmware.0) << 32 | UInt64(core.firmware.1)
        revision = Int(core.revision)
        isOwnerAuthSet = core.owner_auth_set == 1
        isEndorsementAuthSet = core.endorsement_auth_set == 1
        isLockoutAuthSet = core.lockout_auth_set == 1
        isClearDisabled = core.clear_disabled == 1
        isStorageEnabled = core.storage_enabled == 1
        isEndorsementEnabled = core.endorsement_enabled == 1
        lockout = TPM.Lockout(core: core)
        ekCertificates = TPM.EKCertificates(rawValue: core.ek_certificates)
    }
}

extension TPM.Lockout {
    fileprivate init(core: tenon_tpm_info) {
        isLocked = core.in_lockout == 1
        failedTries = Int(core.lockout_counter)
        maximumTries = Int(core.lockout_max)
        interval = .seconds(core.lockout_interval)
        recovery = .seconds(core.lockout_recovery)
    }
}

extension AttestRequest.TPMDescription {
    /// A TPM's report about itself, in the form of an ``AttestRequest``.
    public init(_ info: TPM.Info) {
        // TPM 2.0 Part 2, 6.13: four characters, padded with zeros.
        let maker = (Array(info.maker.utf8) + [0, 0, 0, 0]).prefix(4)
        self.init(
            manufacturer: maker.reduce(0) { $0 << 8 | UInt32($1) }, model: info.model,
            firmwareVersion: "\(info.firmware >> 32).\(info.firmware & 0xffff_ffff)")
    }
}
