// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// What the instances of one authority share (decision: derived-secret, authority-keys).
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
    /// The keys that issued before, whose signatures in the audit log are good still.
    package let former: [PublicKey]
    /// Of what this took the place, as instances knew it (decision: authority-keys).
    let replaced: Digest?
    /// Made by itself, for a demo, and good for nothing else.
    let isTest: Bool
    private let key: any DigestSigner

    /// - Parameters:
    ///   - certificate: that of the issuing key, DER.
    ///   - roots: that above it, and those that are trusted still.
    ///   - former: the keys that issued before.
    package init(
        certificate: [UInt8], key: any DigestSigner, roots: [[UInt8]], activation: Secret, ek: Secret, audit: Secret,
        former: [PublicKey] = [], replaced: Digest? = nil, isTest: Bool = false
    ) {
        issuer = AttestationAuthority(certificate: certificate, key: key)
        self.key = key
        self.roots = roots
        self.activation = activation
        self.ek = ek
        self.audit = audit
        self.former = former
        self.replaced = replaced
        self.isTest = isTest
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

    /// Checks a signature of ours, or of a key that issued before, over what is no certificate.
    package func verify(_ signature: [UInt8], of message: [UInt8]) throws(TenonError) {
        let (signature, digest) = (try Signature(derRepresentation: signature.span), try Digest(hashing: message))
        for key in former where key.isValidSignature(signature, for: digest) { return }
        try publicKey.verify(signature, for: digest)
    }

    /// Signs what is no certificate: the head of an audit log. DER.
    package func signature(of message: [UInt8]) throws(TenonError) -> [UInt8] {
        try key.signature(for: Digest(hashing: message)).derRepresentation
    }
}
