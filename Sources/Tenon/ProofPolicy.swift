// SPDX-License-Identifier: Apache-2.0

/// What is demanded of a ``Proof``.
public struct ProofPolicy: Hashable, Sendable {
    /// Who the attestation key is.
    public enum Trust: Hashable, Sendable {
        /// This key, which the service has from elsewhere than the request that brings the proof.
        case ak(PublicArea, firmware: Firmware? = nil)
        /// The leaf of the proof's certificates, which has to chain to one of these certificates (DER). Without any of
        /// them no proof is accepted.
        case roots([[UInt8]], makers: Makers? = nil)
    }

    /// The least firmware version. The attestation key has to be under this endorsement key: of any other a TPM hides the
    /// version, and to demand one is ``TenonError/Code/options``.
    public struct Firmware: Hashable, Sendable {
        /// The Name of the endorsement key, with SHA-256 or SHA-384.
        public var ekName: [UInt8]
        public var least: UInt64

        public init(ekName: [UInt8], least: UInt64) {
            self.ekName = ekName
            self.least = least
        }
    }

    /// The TPM makers that are known. One that is not is noted in the report.
    public struct Makers: Hashable, Sendable {
        /// Texts as certificates have them, such as `id:494E5443`.
        public var names: [String]
        /// Whether a proof of another maker is refused. Without names that is ``TenonError/Code/options``.
        public var areRequired: Bool

        public init(_ names: [String], areRequired: Bool = false) {
            self.names = names
            self.areRequired = areRequired
        }
    }

    public var trust: Trust
    /// Unix seconds, for the dates of certificates.
    public var now: Int64
    /// The qualified Name that the key's parent has to have, 34 bytes. Without it the report says that the hierarchy is
    /// not known.
    public var parentQualifiedName: [UInt8]?

    public init(trust: Trust, now: Int64, parentQualifiedName: [UInt8]? = nil) {
        self.trust = trust
        self.now = now
        self.parentQualifiedName = parentQualifiedName
    }
}
