// SPDX-License-Identifier: Apache-2.0

/// What is demanded of a ``Proof``.
public struct ProofPolicy: Hashable, Sendable {
    /// Who the attestation key is.
    public enum Trust: Hashable, Sendable {
        /// This key, which the service has from elsewhere than the request that brings the proof.
        case ak(PublicArea)
        /// The leaf of the proof's certificates, which has to chain to one of these certificates (DER). Without any of
        /// them no proof is accepted.
        case roots([[UInt8]])
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
