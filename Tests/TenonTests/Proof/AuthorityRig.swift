// SPDX-License-Identifier: Apache-2.0
import Tenon
import TestEvidence

extension ProofRig {
    /// The policy of a service that knows the AK.
    func policy() throws -> ProofPolicy {
        ProofPolicy(trust: .ak(try PublicArea(dataRepresentation: akArea)), now: now)
    }

    var now: Int64 { 1_800_000_000 }
}

/// An authority, an issuer below it, and an EK of the vectors.
struct AuthorityRig {
    let rootKey: SoftwareKey
    let issuerKey: SoftwareKey
    let root: AttestationAuthority
    let issuer: AttestationAuthority
    let ek: EndorsementKey
    var terms = CertificateTerms(serial: Array(1...16), notBefore: 1_799_999_700, notAfter: 1_807_776_000)

    init() throws {
        rootKey = try SoftwareKey(signsDigests: true)
        issuerKey = try SoftwareKey(signsDigests: true)
        root = try AttestationAuthority(root: "Root", key: rootKey, terms: terms)
        issuer = AttestationAuthority(
            certificate: try root.certificate(forAuthority: "Issuer", key: issuerKey.publicKey, terms: terms),
            key: issuerKey)
        let certificates = try Vectors.certificates("certificates.txt")
        ek = try EndorsementKey(
            verifying: [certificates["ek"]!],
            policy: EndorsementPolicy(roots: [certificates["root"]!], now: 1_800_000_000))
    }

    /// The chain of an AK, leaf first.
    func chain(for area: [UInt8]) throws -> [[UInt8]] {
        let ak = try PublicArea(dataRepresentation: area)
        return [try issuer.certificate(for: ak, of: ek, terms: terms), issuer.certificate]
    }
}
