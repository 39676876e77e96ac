// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonTPM
import Testing

/// A device in a TPM that gets an AK certificate of an attestation CA, by the bytes that go over the wire.
@Suite(.timeLimit(.minutes(1))) struct AttestationCATests {
    private var tpm: TPM { OpenTPM.current.tpm }

    private struct Authority {
        let ca: AttestationCA
        let root: [UInt8]
        let policy: EndorsementPolicy
        let pending = PendingActivations()

        init() throws {
            policy = try Service().policy
            let terms = CertificateTerms(
                serial: Array(1...16), notBefore: policy.now - 1, notAfter: policy.now + 1_000_000)
            let (rootKey, key) = try (SoftwareKey(signsDigests: true), SoftwareKey(signsDigests: true))
            let above = try AttestationAuthority(root: "Root", key: rootKey, terms: terms)
            let own = try above.certificate(forAuthority: "Issuer", key: key.publicKey, terms: terms)
            root = above.certificate
            ca = AttestationCA(authority: AttestationAuthority(certificate: own, key: key))
        }

        func attest(_ body: [UInt8]) throws(TenonError) -> [UInt8] {
            try ca.answer(attest: body, endorsement: policy, pending: pending)
        }

        func secret(_ body: [UInt8]) throws(TenonError) -> [UInt8] {
            try ca.answer(secret: body, endorsement: policy, pending: pending).answer
        }
    }

    @Test(.endorsedTPM, arguments: [EndorsementKey.Kind.rsa2048, .p384])
    func endToEnd(_ kind: EndorsementKey.Kind) async throws {
        let authority = try Authority()
        let key = try await TPM.PrivateKey(in: tpm)
        let ak = try await TPM.AttestationKey(beside: key)
        let chain = [try await tpm.endorsementCertificate(kind), try Endorsed.issuer()]
        let request = try AttestRequest(
            ekCertificates: chain, ak: ak.publicArea, tpm: AttestRequest.TPMDescription(await tpm.info()),
            creation: await ak.creation())
        #expect(request.ek != nil)
        #expect(try AttestRequest(parsing: request.encoded()) == request)
        let offered = try AttestAnswer(parsing: authority.attest(request.encoded()))
        let secret = try await ak.secret(of: offered.credential, certificate: chain[0])
        let issued = try SecretAnswer(parsing: authority.secret(SecretRequest(secret).encoded()))
        try issued.verify(for: ak.publicArea.publicKey, roots: [authority.root], now: authority.policy.now)

        // With the certificate, a proof needs nothing else.
        let nonce = try Digest(hashing: Array("client data".utf8))
        let proof = try await key.attest(
            by: ak, qualifyingData: nonce.rawRepresentation, certificates: issued.chain)
        let policy = ProofPolicy(trust: .roots([authority.root]), now: authority.policy.now)
        try proof.verify(key.publicKey, nonce: nonce, policy: policy)

        let again = try SecretRequest(secret).encoded()
        let code = errorThrown { try authority.secret(again) }?.code
        #expect(code == .secretNotPending)
    }

    /// When half of the places are taken, an address may have only its share of them.
    @Test(.endorsedTPM) func pendingSecretsOfAnAddress() async throws {
        let device = try Device(tpm, .rsa2048)
        try await AuthorityRig.with { rig async throws in
            for _ in 0..<50 { #expect(try await rig.attest(device, app: "demo").verdict == "200") }
            #expect(try await rig.attest(device, app: "demo").verdict == "503 UNAVAILABLE")
        }
    }

    /// What an attestation CA of another maker judges: the statement is of the AK's creation and holds the digest of
    /// the data.
    @Test(.blockingTPM) func howAnAKWasMade() throws {
        let ak = try TPM.AttestationKey(beside: TPM.PrivateKey(in: tpm))
        let creation = try ak.creation()
        #expect(creation.attestation.prefix(6) == [0xff, 0x54, 0x43, 0x47, 0x80, 0x1a])
        #expect(try creation.attestation.suffix(32) == Digest(hashing: creation.data).rawRepresentation[...])
        #expect(creation.signature.prefix(4) == [0x00, 0x18, 0x00, 0x0b])
        let loaded = try TPM.AttestationKey(dataRepresentation: ak.dataRepresentation, in: tpm)
        #expect(errorThrown { try loaded.creation() }?.code == .notMadeHere)
    }

    /// As the step client sends it: a number, and two.
    @Test(.blockingTPM) func whatTheTPMSaysOfItself() throws {
        let info = try tpm.info()
        let description = AttestRequest.TPMDescription(info)
        #expect(description.manufacturer == 0x4942_4d00 && info.maker == "IBM")
        #expect(description.model == info.model && !info.model.isEmpty)
        #expect(description.firmwareVersion == "\(info.firmware >> 32).\(info.firmware & 0xffff_ffff)")
    }

    /// The TPM does not open a secret for another AK, such as one in somebody else's request.
    @Test func anAKThatIsNotInTheTPM() throws {
        try withTPM(state: Endorsed.state) { _, tpm in
            try withTPM { _, foreign in
                let authority = try Authority()
                let device = try Device(tpm)
                let other = try TPM.AttestationKey(beside: TPM.PrivateKey(in: foreign))
                let request = try AttestRequest(ekCertificates: device.chain, ak: other.publicArea)
                let credential = try AttestAnswer(parsing: authority.attest(request.encoded())).credential
                let here = errorThrown { try device.ak.secret(of: credential, certificate: device.chain[0]) }
                #expect(here?.code.category == .rejected)
                let there = errorThrown { try other.secret(of: credential, certificate: device.chain[0]) }
                #expect(there?.code == .ekMissing)
            }
        }
    }
}
