// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// What the instances of one authority share (security.md 1.2, F2).
package struct AuthorityKeys: Sendable {
    /// Issues the certificates of AKs, and signs the heads of audit logs.
    package let issuer: AttestationAuthority
    /// Certificates, DER, below which AK certificates are good: one issues, another may be trusted still.
    package let roots: [[UInt8]]
    /// K_act, from which the secrets of challenges are derived.
    let activation: Secret
    /// K_ek, under which EKs are kept.
    let ek: Secret

    package init(issuer: AttestationAuthority, roots: [[UInt8]], activation: Secret, ek: Secret) {
        self.issuer = issuer
        self.roots = roots
        self.activation = activation
        self.ek = ek
    }

    /// HMAC(K_ek, ek_id): the only form in which an EK is kept.
    package func hidden(_ ekID: Digest) throws(TenonError) -> Digest {
        try Digest(authenticating: ekID.rawRepresentation, key: ek)
    }
}
