// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// What the instances of one authority share (security.md 1.2, F2).
package struct AuthorityKeys: Sendable {
    /// Issues the certificates of AKs.
    package let issuer: AttestationAuthority
    /// Certificates, DER, below which AK certificates are good: one issues, another may be trusted still.
    package let roots: [[UInt8]]
    /// Chains the lines of the audit log.
    package let audit: Secret
    /// K_act, from which the secrets of challenges are derived.
    let activation: Secret
    /// K_ek, under which EKs are kept.
    let ek: Secret
    private let key: any DigestSigner

    /// - Parameters:
    ///   - certificate: that of the issuing key, DER.
    ///   - roots: that above it, and those that are trusted still.
    package init(
        certificate: [UInt8], key: any DigestSigner, roots: [[UInt8]], activation: Secret, ek: Secret, audit: Secret
    ) {
        issuer = AttestationAuthority(certificate: certificate, key: key)
        self.key = key
        self.roots = roots
        self.activation = activation
        self.ek = ek
        self.audit = audit
    }

    package var publicKey: PublicKey { key.publicKey }

    /// HMAC(K_ek, ek_id): the only form in which an EK is kept.
    package func hidden(_ ekID: Digest) throws(TenonError) -> Digest {
        try Digest(authenticating: ekID.rawRepresentation, key: ek)
    }

    /// By what instances see that they have the same: nothing is learnt of the keys from it.
    var digest: Digest {
        get throws(TenonError) {
            let label = Array("tenon/settle/1".utf8)
            let marks = [
                try Digest(authenticating: label, key: activation), try Digest(authenticating: label, key: ek),
            ].flatMap(\.rawRepresentation)
            return try Digest(hashing: marks + issuer.certificate)
        }
    }

    /// Signs what is no certificate: the head of an audit log. DER.
    package func signature(of message: [UInt8]) throws(TenonError) -> [UInt8] {
        try key.signature(for: Digest(hashing: message)).derRepresentation
    }
}
