// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Tenon
import TenonTPM
import Testing

/// Attestation keys, their statements, and their certificates.
@Suite(.timeLimit(.minutes(1))) struct AttestationKeyTests {
    private var software: SoftwareTPM { OpenTPM.current.software }
    private var tpm: TPM { OpenTPM.current.tpm }

    private let nonce = [UInt8](repeating: 7, count: 32)

    private func verify(_ proof: Proof, _ key: TPM.PrivateKey, _ ak: PublicArea) throws -> VerificationReport.Verdict {
        let nonce = try Digest(rawRepresentation: nonce)
        return proof.report(on: key.publicKey, nonce: nonce, policy: ProofPolicy(trust: .ak(ak), now: 0)).verdict
    }

    /// Runs a test on a key and an attestation key.
    private func with(_ body: (SoftwareTPM, TPM, TPM.PrivateKey, TPM.AttestationKey) throws -> Void) throws {
        try withTPM { software, tpm in
            let key = try TPM.PrivateKey(in: tpm)
            try body(software, tpm, key, TPM.AttestationKey(beside: key))
        }
    }

    @Test func isMadeAndLoaded() throws {
        try with { software, _, key, made in
            try made.publicArea.verifyIsAttestationKey()
            #expect(made.name == made.publicArea.name)
            #expect(made.parentName == key.parentName && made.witness == key.witness && made.witness != nil)
            #expect(try made.publicArea != TPM.AttestationKey(beside: key).publicArea)
            // The two share the TPM's places: what is loaded goes.
            #expect(support_flush_all(software.device) == 0)
            let again = try software.tpm()
            let loadedKey = try TPM.PrivateKey(dataRepresentation: key.dataRepresentation, in: again)
            let ak = try TPM.AttestationKey(dataRepresentation: made.dataRepresentation, in: again)
            #expect(ak.publicArea == made.publicArea && ak.dataRepresentation == made.dataRepresentation)
            #expect(ak.tpm === again)
            #expect(try verify(loadedKey.attest(by: ak, qualifyingData: nonce), key, made.publicArea) == .accepted)
        }
    }

    @Test(.tpm) func theFormsThatWait() async throws {
        let key = try await TPM.PrivateKey(in: tpm)
        let made = try await TPM.AttestationKey(beside: key)
        let ak = try await TPM.AttestationKey(dataRepresentation: made.dataRepresentation, in: tpm)
        for _ in 0..<2 {
            let proof = try await key.attest(by: ak, qualifyingData: nonce)
            #expect(try verify(proof, key, made.publicArea) == .accepted)
        }
        // Objects that were loaded for the first are flushed after the second.
        support_transport_reset_counts(software.wire)
        let proof = try await key.attest(by: ak, qualifyingData: nonce)
        #expect(try verify(proof, key, made.publicArea) == .accepted)
        #expect(software.commands() == 1)
    }

    /// Whoever drops the AK first.
    @Test(.blockingTPM) func livesByItself() throws {
        var key: TPM.PrivateKey? = try TPM.PrivateKey(in: tpm)
        var ak: TPM.AttestationKey? = try TPM.AttestationKey(beside: #require(key))
        let area = try #require(ak).publicArea
        let (pem, keyPEM) = try (#require(ak).dataRepresentation, #require(key).dataRepresentation)
        key = nil
        let other = try TPM.PrivateKey(dataRepresentation: keyPEM, in: tpm)
        #expect(try verify(other.attest(by: #require(ak), qualifyingData: nonce), other, area) == .accepted)
        ak = nil
        let loaded = try TPM.AttestationKey(dataRepresentation: pem, in: tpm)
        #expect(try verify(other.attest(by: loaded, qualifyingData: nonce), other, area) == .accepted)
    }

    @Test func areNoKeysOfAnotherKind() throws {
        try with { _, tpm, key, ak in
            let (pem, akPEM) = (key.dataRepresentation, ak.dataRepresentation)
            for error in [
                errorThrown { try TPM.PrivateKey(dataRepresentation: akPEM, in: tpm) },
                errorThrown { try TPM.PrivateKey(importing: akPEM, in: tpm) },
                errorThrown { try TPM.AttestationKey(dataRepresentation: pem, in: tpm) },
            ] { #expect(error?.code == .keyAttributes) }
            for wrong in [[], Sample.data, akPEM + Sample.data, [UInt8](repeating: 0x2d, count: 1 << 20)] {
                let error = errorThrown { try TPM.AttestationKey(dataRepresentation: wrong, in: tpm) }
                #expect([.format, .argument].contains(error?.code.category))
            }
        }
    }

    @Test func arguments() throws {
        try with { software, _, key, ak in
            try withTPM { _, foreign in
                let foreignAK = try TPM.AttestationKey(beside: TPM.PrivateKey(in: foreign))
                func code(
                    _ data: [UInt8], _ certificates: [[UInt8]] = [], by other: TPM.AttestationKey? = nil
                ) -> TenonError.Code? {
                    errorThrown {
                        try key.attest(by: other ?? ak, qualifyingData: data, certificates: certificates)
                    }?.code
                }
                support_transport_reset_counts(software.wire)
                #expect(code([UInt8](repeating: 0, count: 33)) == .tooLarge)
                #expect(code([UInt8](repeating: 0, count: 1 << 20)) == .tooLarge)
                #expect(code(nonce, [[UInt8]](repeating: [1], count: 5)) == .tooLarge)
                #expect(code(nonce, [[UInt8]](repeating: [], count: 100_000)) == .tooLarge)
                #expect(code(nonce, [[UInt8](repeating: 0, count: 4097)]) == .tooLarge)
                #expect(code(nonce, by: foreignAK) == .options)
                #expect(software.commands() == 0)
                let whole = [UInt8](repeating: 0, count: 4096)
                let proof = try key.attest(by: ak, qualifyingData: [1], certificates: [whole, [], [2]])
                #expect(try proof.evidence().certificates == [whole, [], [2]])
                #expect(code([]) == nil)
            }
        }
    }

    /// A statement by another key is not returned.
    @Test func aWireThatLies() throws {
        try with { software, _, key, ak in
            _ = try key.attest(by: ak, qualifyingData: nonce)
            support_flip(software.wire, support_times(SUPPORT_CC_CERTIFY, 1, 2), 60, 1)
            let error = errorThrown { try key.attest(by: ak, qualifyingData: nonce) }
            #expect(error != nil)
            support_transport_forget_faults(software.wire)
            #expect(try verify(key.attest(by: ak, qualifyingData: nonce), key, ak.publicArea) == .accepted)
        }
    }

    @Test func isGoneAfterAClear() throws {
        try with { software, _, key, ak in
            #expect(support_clear(software.device, SUPPORT_RH_LOCKOUT, nil) == 0)
            let error = errorThrown { try key.attest(by: ak, qualifyingData: nonce) }
            #expect(error?.code == .keyGone)
        }
    }

    /// The same AK certifies a key that replaces another one.
    @Test func rotation() throws {
        try with { _, tpm, old, ak in
            let new = try TPM.PrivateKey(in: tpm)
            func nonce(_ timestamp: String) throws -> Digest {
                try .rotationNonce(
                    origin: "https://auth.example", appID: "app", deviceID: "device",
                    oldKeyText: TextEncoding.base64.encode(old.publicKey.derRepresentation),
                    newKeyText: TextEncoding.base64.encode(new.publicKey.derRepresentation), timestamp: timestamp)
            }
            let proof = try new.attest(by: ak, qualifyingData: nonce("1700000000").rawRepresentation)
            let policy = ProofPolicy(trust: .ak(ak.publicArea), now: 0)
            try proof.verify(new.publicKey, nonce: nonce("1700000000"), policy: policy)
            let later = try nonce("1700000001")
            let error = errorThrown { try proof.verify(new.publicKey, nonce: later, policy: policy) }
            #expect(error?.code == .rule7Nonce)
        }
    }

    /// An authority whose key is in a TPM, too.
    @Test func issuedByATPM() throws {
        try withTPM(state: Endorsed.state) { _, tpm in
            let device = try Device(tpm)
            let ek = try EndorsementKey(verifying: device.chain, policy: Service().policy)
            let terms = CertificateTerms(serial: Array(1...16), notBefore: 1_700_000_000, notAfter: 1_900_000_000)
            let rootKey = try TPM.PrivateKey(in: tpm, options: .signsDigests)
            let root = try AttestationAuthority(root: "Root", key: rootKey, terms: terms)
            let leaf = try root.certificate(for: device.ak.publicArea, of: ek, terms: terms)
            let proof = try device.key.attest(by: device.ak, qualifyingData: nonce, certificates: [leaf])
            let nonce = try Digest(rawRepresentation: nonce)
            let policy = ProofPolicy(trust: .roots([root.certificate]), now: 1_800_000_000)
            try proof.verify(device.key.publicKey, nonce: nonce, policy: policy)
            let late = ProofPolicy(trust: policy.trust, now: terms.notAfter + 1)
            let error = errorThrown { try proof.verify(device.key.publicKey, nonce: nonce, policy: late) }
            #expect(error?.code == .rule24Chain)
            let timid = errorThrown { try AttestationAuthority(root: "Root", key: device.key, terms: terms) }
            #expect(timid?.code == .digestNotAllowed)
        }
    }

    @Test(.endorsedTPM) func certificatesOfTheTPM() async throws {
        for kind in [EndorsementKey.Kind.rsa2048, .p384] {
            let certificate = try await tpm.endorsementCertificate(kind)
            #expect(try EndorsementKey(unverified: certificate).kind == kind)
            #expect(try EndorsementKey.certificate(fromNV: certificate) == certificate)
        }
        let none = await errorAwaited { try await tpm.endorsementCertificate(.p256) }
        #expect(none?.code == .ekMissing)
        let info = try await tpm.info()
        #expect(info.ekCertificates == [.rsa2048Low, .p384High])
    }
}
