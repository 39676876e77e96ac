// SPDX-License-Identifier: Apache-2.0
import Tenon
import TestEvidence
import Testing

@Suite struct AttestationCATests {
    @Test func aCredentialThenACertificate() throws {
        let rig = try CARig()
        let body = try rig.ca.answer(attest: rig.request.encoded(), endorsement: rig.policy, pending: rig.pending)
        let credential = try AttestAnswer(parsing: body).credential
        // 32 bytes of secret, with a HMAC of SHA-256, for an ephemeral point of P-256.
        #expect(credential.idObject.count == 70 && credential.encryptedSecret.count == 70)
        #expect(rig.pending.count == 1)

        let issued = try rig.ca.answer(secret: rig.offer(), endorsement: rig.policy, pending: rig.pending)
        #expect(issued.ak == rig.ak)
        #expect(issued.ek == rig.authority.ek)
        #expect(issued.serial.count == 16)
        let chain = try SecretAnswer(parsing: issued.answer)
        #expect(chain.chain == [issued.certificate, rig.authority.issuer.certificate])
        let roots = [rig.authority.root.certificate]
        for now in [rig.policy.now - 300, rig.policy.now, rig.policy.now + 90 * 86_400 - 1] {
            // The issuer of the rig ends no later than its leaf, and begins no earlier.
            if now <= rig.authority.terms.notAfter { try chain.verify(for: rig.ak.publicKey, roots: roots, now: now) }
        }
        #expect(rig.pending.count == 1)
    }

    /// Each credential has a secret of its own, each certificate a serial of its own.
    @Test func nothingIsUsedTwice() throws {
        let rig = try CARig()
        let offers = try (0..<4).map { _ in try rig.ca.offer(rig.request, endorsement: rig.policy) }
        #expect(Set(offers.map(\.digest)).count == 4)
        #expect(Set(offers.map(\.answer)).count == 4)
        #expect(Set(offers.map(\.activation)).count == 1)
        let issued = try offers.map { try rig.ca.certify($0.activation, endorsement: rig.policy) }
        #expect(Set(issued.map(\.serial)).count == 4)
    }

    @Test func theDeviceKeepsOnlyItsOwnCertificate() throws {
        let rig = try CARig()
        let issued = try rig.ca.answer(secret: rig.offer(), endorsement: rig.policy, pending: rig.pending)
        let answer = try SecretAnswer(parsing: issued.answer)
        let roots = [rig.authority.root.certificate]
        func code(_ answer: SecretAnswer, _ key: PublicKey, _ roots: [[UInt8]], _ now: Int64) -> TenonError.Code? {
            codeThrown { try answer.verify(for: key, roots: roots, now: now) }
        }
        let (ak, now) = (rig.ak.publicKey, rig.policy.now)
        #expect(code(answer, ak, roots, now) == nil)
        #expect(try code(answer, SoftwareKey().publicKey, roots, now) == .rule19PublicKey)
        #expect(code(answer, ak, [], now) == .rule24Chain)
        #expect(try code(answer, ak, [rig.certificate("root")], now) == .rule24Chain)
        #expect(code(answer, ak, roots, now - 301) == .rule24Chain)
        #expect(code(answer, ak, roots, now + 90 * 86_400 + 1) == .rule24Chain)
        #expect(code(SecretAnswer(chain: answer.chain.reversed()), ak, roots, now) == .rule22Certificate)
        #expect(code(SecretAnswer(chain: []), ak, roots, now) == .rule22Certificate)
        #expect(code(SecretAnswer(chain: [rig.request.ekCertificates[0]]), ak, roots, now) == .rule24Chain)
    }

    /// The AK is judged by rule 29, before any certificate is checked.
    @Test func noKeyButAnAK() throws {
        let rig = try CARig()
        let key = try SoftwareKey().publicKey
        let good = ProofRig.area(key, 0x0005_0472, attests: true)
        #expect(try rig.refusal { $0.ak = ProofRig.area(key, 0x0004_0472, attests: true) } == .rule29AK)
        #expect(try rig.refusal { $0.ak = ProofRig.area(key, 0x0005_0470, attests: true) } == .rule29AK)
        #expect(try rig.refusal { $0.ak = ProofRig.area(key, 0x0005_0472) } == .rule29AK)
        #expect(try rig.refusal { $0.ak = good + [0] } == .keyPublic)
        #expect(try rig.refusal { $0.ak = Array(good.dropLast()) } == .keyPublic)
        #expect(try rig.refusal { $0.ak = changed(good, at: 87, to: good[87] ^ 1) } == .pointOffCurve)
        #expect(try rig.refusal { $0.ak = [UInt8](repeating: 0, count: 1_024) } != nil)
        #expect(
            try rig.refusal {
                $0.ak = ProofRig.area(key, 0x0004_0472, attests: true)
                $0.ekCertificates = []
            } == .rule29AK)
        #expect(try rig.refusal { $0.ak = good } == nil)
    }

    @Test func noTPMWithoutItsCertificate() throws {
        var rig = try CARig()
        #expect(try rig.refusal { $0.ekCertificates = [] } == .rule22Certificate)
        // Also when the key itself is sent.
        #expect(rig.request.ek != nil)
        #expect(try rig.refusal { $0.ekCertificates = [try rig.certificate("ek-forged")] } == .rule33EKChain)
        #expect(try rig.refusal { $0.ekCertificates = [try rig.certificate("ek-p384")] } == .rule33EKChain)
        #expect(try rig.refusal { $0.ekCertificates = [try rig.certificate("root")] } != nil)
        #expect(try rig.refusal { $0.ekCertificates[0] += [0] } == .rule22Certificate)
        #expect(
            try rig.refusal { $0.ekCertificates = [$0.ekCertificates[0], $0.ekCertificates[0]] } == .rule22Certificate)
        rig.policy.roots = []
        #expect(try rig.refusal() == .rule33EKChain)
    }

    /// The certificate's key counts; any other key in the request must equal it.
    @Test func theKeyOfAnotherTPM() throws {
        let rig = try CARig()
        let other = try EndorsementKey(unverified: rig.certificate("ek-rsa")).subjectPublicKeyInfo
        let own = try #require(rig.request.ek)
        #expect(other != own)
        #expect(try rig.refusal { $0.ek = other } == .rule36EKKey)
        #expect(try rig.refusal { $0.ek = own + [0] } == .rule36EKKey)
        #expect(try rig.refusal { $0.ek = [1] } == .rule36EKKey)
        #expect(try rig.refusal { $0.ek = nil } == nil)
    }

    /// The text of a key's SubjectPublicKeyInfo is the certificate's, for each kind.
    @Test(arguments: [("ek", 91), ("ek-rsa", 294), ("ek-p384", 120)])
    func keysSpeltOut(_ name: String, _ count: Int) throws {
        let ek = try EndorsementKey(unverified: CARig().certificate(name))
        let info = try #require(try ek.subjectPublicKeyInfo)
        #expect(info.count == count)
        #expect(try Digest(hashing: info) == ek.id)
    }

    @Test func aTPMThatIsDenied() throws {
        var rig = try CARig()
        let body = try rig.offer()
        rig.policy.denied = [rig.authority.ek.id]
        // Denied after the credential was made: and the secret is used.
        #expect(rig.code(secret: body) == .rule37EKAllowed)
        rig.policy.denied = []
        #expect(rig.code(secret: body) == .secretNotPending)
        rig.policy.denied = [rig.authority.ek.id]
        #expect(try rig.refusal() == .rule37EKAllowed)
    }

    /// A secret works once, whatever the result.
    @Test func aSecretIsGoodOnce() throws {
        let rig = try CARig()
        let body = try rig.offer()
        #expect(rig.code(secret: body) == nil)
        #expect(rig.code(secret: body) == .secretNotPending)

        let late = try rig.offer()
        #expect(rig.code(secret: late, after: 90) == .secretNotPending)
        #expect(rig.pending.count == 0)
        #expect(rig.code(secret: late) == .secretNotPending)
        #expect(try rig.code(secret: rig.offer(), after: 89) == nil)

        // Even if the CA cannot issue.
        let broken = AttestationCA(authority: AttestationAuthority(certificate: [], key: rig.authority.issuerKey))
        let unlucky = try rig.offer()
        #expect(
            codeThrown {
                try broken.answer(secret: unlucky, endorsement: rig.policy, pending: rig.pending)
            } == .certificateForm)
        #expect(rig.code(secret: unlucky) == .secretNotPending)
    }

    @Test func aSecretIsOneAKs() throws {
        let rig = try CARig()
        let own = try rig.offer(1)
        var other = rig
        other.request.ak = try ProofRig().akArea
        let others = try other.offer(2)
        let issued = try rig.ca.answer(secret: others, endorsement: rig.policy, pending: rig.pending)
        #expect(issued.ak.dataRepresentation == other.request.ak)
        #expect(issued.ak != rig.ak)
        let answer = try SecretAnswer(parsing: issued.answer)
        #expect(
            codeThrown {
                try answer.verify(
                    for: rig.ak.publicKey, roots: [rig.authority.root.certificate], now: rig.policy.now)
            } == .rule19PublicKey)
        #expect(rig.code(secret: own) == nil)
    }

    @Test func secretsThatNobodyGaveOut() throws {
        let rig = try CARig()
        let body = try rig.offer()
        for count in [1, 31, 32, 33, 64] {
            let guess = SecretRequest(Secret(copying: [UInt8](repeating: 2, count: count).span))
            #expect(try rig.code(secret: guess.encoded()) == .secretNotPending)
        }
        // The memory contains digests, which are useless to somebody who reads them.
        let digest = try SecretRequest(parsing: body).digest
        #expect(
            try rig.code(secret: SecretRequest(Secret(copying: digest.bytes.span)).encoded()) == .secretNotPending)
        #expect(rig.code(secret: Array("{}".utf8)) == .messageMember)
        #expect(rig.code(secret: body) == nil)
    }

    @Test func fullIsRefused() throws {
        let rig = try CARig()
        let pending = PendingActivations(capacity: 2)
        let body = try rig.request.encoded()
        for _ in 0..<2 { _ = try rig.ca.answer(attest: body, endorsement: rig.policy, pending: pending) }
        let error = #expect(throws: TenonError.self) {
            try rig.ca.answer(attest: body, endorsement: rig.policy, pending: pending)
        }
        #expect(error?.code == .pendingFull)
        #expect(error?.retryAfter == .seconds(90))
        var later = rig.policy
        later.now += 90
        _ = try rig.ca.answer(attest: body, endorsement: later, pending: pending)
        #expect(pending.count == 1)
    }

    /// Times at the limits of an integer are refused, and have no other effect.
    @Test(arguments: [Int64.min, .max]) func timesThatNoCertificateHas(_ now: Int64) throws {
        var rig = try CARig()
        let activation = try rig.ca.offer(rig.request, endorsement: rig.policy).activation
        rig.policy.now = now
        #expect(try rig.refusal() == .rule33EKChain)
        let code = codeThrown { try rig.ca.certify(activation, endorsement: rig.policy) }
        #expect(code == .options || code == .secretNotPending)
    }

    @Test func oneOfTwoWins() async throws {
        let rig = try CARig()
        let bodies = try (0..<20).map { try rig.offer($0) }
        let won = await withTaskGroup(of: [Int].self) { group in
            for _ in 0..<2 { group.addTask { bodies.indices.filter { rig.code(secret: bodies[$0]) == nil } } }
            return await group.reduce([], +)
        }
        #expect(won.sorted() == Array(bodies.indices))
    }

    /// Altered bytes are answered or refused, on each side, and an answer matches its request.
    @Test func whateverComes() throws {
        let rig = try CARig()
        var generator = SeededGenerator(state: 4)
        let issued = try rig.ca.answer(secret: rig.offer(), endorsement: rig.policy, pending: rig.pending)
        let (attest, chain) = try (rig.request.encoded(), issued.answer)
        let credential = try rig.ca.offer(rig.request, endorsement: rig.policy).answer
        let root = rig.authority.root.certificate
        var secret: [UInt8] = []
        for _ in 0..<500 {
            let body = mutated(attest, &generator)
            if let request = try? AttestRequest(parsing: body) { #expect(!request.ak.isEmpty) }
            _ = try? AttestAnswer(parsing: mutated(credential, &generator))
            if rig.pending.count == 0 { secret = try rig.offer() }
            let other = mutated(secret, &generator)
            if rig.code(secret: other) == nil {
                #expect(try SecretRequest(parsing: other) == SecretRequest(parsing: secret))
            }
            if let answer = try? SecretAnswer(parsing: mutated(chain, &generator)), answer.chain.count == 2,
                (try? answer.verify(for: rig.ak.publicKey, roots: [root], now: rig.policy.now)) != nil
            {
                #expect(answer.chain == [issued.certificate, rig.authority.issuer.certificate])
            }
        }
        for _ in 0..<50 {
            let body = mutated(attest, &generator)
            _ = try? rig.ca.answer(attest: body, endorsement: rig.policy, pending: PendingActivations())
        }
    }

    private func mutated(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 1: bytes[index] = .random(in: 0...255, using: &generator)
            case 2: bytes.remove(at: index)
            case 3: bytes.insert(contentsOf: bytes[index...].prefix(16), at: index)
            default: bytes.removeSubrange(index...)
            }
        }
        return bytes
    }
}
