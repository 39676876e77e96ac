// SPDX-License-Identifier: Apache-2.0
import Tenon
import TestEvidence
import Testing

/// Issued certificates; C tests check their fields.
@Suite struct AttestationAuthorityTests {
    @Test func attestationKeysOnly() throws {
        let authority = try AuthorityRig()
        let plain = try PublicArea(dataRepresentation: ProofRig().keyArea)
        #expect(
            codeThrown {
                try authority.issuer.certificate(for: plain, of: authority.ek, terms: authority.terms)
            } == .rule29AK)
    }

    @Test func authoritiesThatMayNot() throws {
        let authority = try AuthorityRig()
        let ak = try PublicArea(dataRepresentation: ProofRig().akArea)
        let key = try SoftwareKey(signsDigests: true)
        let leaf = try authority.issuer.certificate(for: ak, of: authority.ek, terms: authority.terms)
        for wrong in [
            AttestationAuthority(certificate: authority.issuer.certificate, key: key),
            AttestationAuthority(certificate: leaf, key: authority.issuerKey),
            AttestationAuthority(certificate: [], key: authority.issuerKey),
            AttestationAuthority(certificate: [UInt8](repeating: 0x30, count: 1 << 20), key: authority.issuerKey),
        ] {
            #expect(
                codeThrown {
                    try wrong.certificate(for: ak, of: authority.ek, terms: authority.terms)
                } == .certificateForm)
        }
        // The path length of an issuer is 0.
        #expect(
            codeThrown {
                try authority.issuer.certificate(forAuthority: "C", key: key.publicKey, terms: authority.terms)
            } == .certificateForm)
    }

    @Test func terms() throws {
        let authority = try AuthorityRig()
        func root(_ name: String, _ terms: CertificateTerms) -> TenonError.Code? {
            codeThrown { try AttestationAuthority(root: name, key: authority.rootKey, terms: terms) }
        }
        #expect(root("Röt", authority.terms) == nil)
        #expect(root("", authority.terms) == .options)
        #expect(root(String(repeating: "a", count: 65), authority.terms) == .options)
        for serial in [[], Array(1...15), Array(1...17), [UInt8](repeating: 1, count: 1 << 20)] as [[UInt8]] {
            #expect(root("R", CertificateTerms(serial: serial, notBefore: 0, notAfter: 1)) == .length)
        }
        let zeros = [UInt8](repeating: 0, count: 16)
        #expect(root("R", CertificateTerms(serial: zeros, notBefore: 0, notAfter: 1)) == .options)
        let serial = [UInt8](1...16)
        #expect(root("R", CertificateTerms(serial: serial, notBefore: 2, notAfter: 1)) == .options)
        #expect(root("R", CertificateTerms(serial: serial, notBefore: .min, notAfter: .max)) == .options)
    }

    @Test func aSignerThatFails() throws {
        struct Failing: DigestSigner {
            let publicKey: PublicKey
            let code: TenonError.Code
            func signature(for digest: Digest) throws(TenonError) -> Signature { throw TenonError(code, message: "") }
        }
        let authority = try AuthorityRig()
        for (thrown, expected) in [(TenonError.Code.tpmBusy, .tpmBusy), (.init(rawValue: 0), .crypto)]
            as [(TenonError.Code, TenonError.Code)]
        {
            let signer = Failing(publicKey: authority.rootKey.publicKey, code: thrown)
            #expect(codeThrown { try AttestationAuthority(root: "R", key: signer, terms: authority.terms) } == expected)
        }
        let timid = try SoftwareKey()
        #expect(
            codeThrown { try AttestationAuthority(root: "R", key: timid, terms: authority.terms) } == .digestNotAllowed)
    }

    @Test func signersAreLetGo() throws {
        final class Kept: DigestSigner {
            let key: SoftwareKey
            init(_ key: SoftwareKey) { self.key = key }
            var publicKey: PublicKey { key.publicKey }
            func signature(for digest: Digest) throws(TenonError) -> Signature { try key.signature(for: digest) }
        }
        let terms = try AuthorityRig().terms
        weak var kept: Kept?
        do {
            let signer = try Kept(SoftwareKey(signsDigests: true))
            kept = signer
            _ = try AttestationAuthority(root: "R", key: signer, terms: terms)
        }
        #expect(kept == nil)
    }
}
