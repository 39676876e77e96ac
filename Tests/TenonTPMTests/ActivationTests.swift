// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Tenon
import TenonTPM
import Testing

/// Folded activation, the device and the service by their Swift values.
@Suite(.timeLimit(.minutes(1))) struct ActivationTests {
    private var tpm: TPM { OpenTPM.current.tpm }
    private var software: SoftwareTPM { OpenTPM.current.software }

    /// Runs a test on a device before it registers, and a service.
    private func with(_ body: (SoftwareTPM, Device, Service) throws -> Void) throws {
        try withTPM(state: Endorsed.state) { software, tpm in try body(software, Device(tpm), Service()) }
    }
    @Test(.endorsedTPM, arguments: [EndorsementKey.Kind.rsa2048, .p384])
    func endToEnd(_ kind: EndorsementKey.Kind) async throws {
        let service = try Service()
        let key = try await TPM.PrivateKey(in: tpm)
        let ak = try await TPM.AttestationKey(beside: key)
        let chain = [try await tpm.endorsementCertificate(kind), try Endorsed.issuer()]
        let (pending, credential) = try service.challenge("c", chain, ak.publicArea.dataRepresentation)
        #expect(pending.ek.kind == kind && pending.ek.model == "swtpm")

        let keyText = TextEncoding.base64.encode(key.publicKey.derRepresentation)
        let activation = Activation(origin: service.origin, appID: service.appID, challenge: "c", keyText: keyText)
        let value = try await ak.activate(activation, with: credential, certificate: chain[0])
        let nonce = try Digest(bindingChallenge: "c", toKeyText: keyText)
        let proof = try await key.attest(by: ak, qualifyingData: nonce.rawRepresentation)
        #expect(try proof.evidence().publicArea == key.publicArea.dataRepresentation)
        #expect(try key.publicArea.name == key.name)

        let report = try service.register(
            pending, keyText, value: value.rawRepresentation, proof: proof.dataRepresentation)
        #expect(report.verdict == .accepted)
        #expect(report.description.hasSuffix("held      TENON_RULE_32_SIGNATURE\naccepted"))
    }

    /// A service that forwards another one's challenge gets nothing that the other one accepts.
    @Test func aRelayIsRefused() throws {
        try with { _, device, service in
            var (evil, other) = (service, service)
            (evil.origin, other.appID) = ("https://evil.example", "other")
            let (pending, credential) = try service.challenge(to: device)
            let nonce = try Digest(bindingChallenge: "c", toKeyText: device.keyText).rawRepresentation
            let proof = try device.key.attest(by: device.ak, qualifyingData: nonce).dataRepresentation
            func code(_ believed: Service, _ challenge: String = "c") throws -> TenonError.Code? {
                let value = try device.ak.activate(
                    device.activation(challenge, for: believed), with: credential, certificate: device.chain[0])
                return errorThrown {
                    try service.register(pending, device.keyText, value: value.rawRepresentation, proof: proof)
                }?.code
            }
            #expect(try code(service) == nil)
            #expect(try code(evil) == .activation)
            #expect(try code(other) == .activation)
            #expect(try code(service, "d") == .activation)
        }
    }

    /// The value is valid, and the proof is about something else.
    @Test func proofsOfSomethingElse() throws {
        try with { _, device, service in
            let (pending, credential) = try service.challenge(to: device)
            let value = try device.ak.activate(
                device.activation("c", for: service), with: credential, certificate: device.chain[0])
            let nonce = try Digest(bindingChallenge: "c", toKeyText: device.keyText).rawRepresentation
            func code(_ proof: Proof) -> TenonError.Code? {
                errorThrown {
                    try service.register(
                        pending, device.keyText, value: value.rawRepresentation, proof: proof.dataRepresentation)
                }?.code
            }
            let otherNonce = try Digest(bindingChallenge: "d", toKeyText: device.keyText).rawRepresentation
            #expect(try code(device.key.attest(by: device.ak, qualifyingData: otherNonce)) == .rule7Nonce)
            #expect(try code(device.key.attest(by: device.ak, qualifyingData: [])) == .rule7Nonce)
            let otherKey = try TPM.PrivateKey(in: device.key.tpm)
            #expect(try code(otherKey.attest(by: device.ak, qualifyingData: nonce)) == .rule19PublicKey)
            let otherAK = try TPM.AttestationKey(beside: device.key)
            #expect(try code(device.key.attest(by: otherAK, qualifyingData: nonce)) == .rule32Signature)
            let certified = try device.key.attest(by: device.ak, qualifyingData: nonce, certificates: device.chain)
            #expect(code(certified) == .rule22Certificate)
        }
    }

    @Test func credentialsOfSomethingElse() throws {
        try with { _, device, service in
            let activation = device.activation("c", for: service)
            func error(_ credential: Credential, _ certificate: [UInt8]) -> TenonError? {
                errorThrown { try device.ak.activate(activation, with: credential, certificate: certificate) }
            }
            let (_, good) = try service.challenge(to: device)
            #expect(error(good, device.chain[0]) == nil)
            // For another AK of this TPM.
            let otherAK = try TPM.AttestationKey(beside: device.key)
            let (_, foreign) = try service.challenge(to: device, otherAK)
            #expect(error(foreign, device.chain[0])?.code.category == .rejected)
            #expect(error(foreign, device.chain[0])?.tpmCode != nil)
            // For another EK of this TPM.
            let rsa = try device.key.tpm.endorsementCertificate(.rsa2048)
            #expect(error(good, rsa)?.code.category == .rejected)
            // Two halves of two credentials.
            let (_, second) = try service.challenge("d", to: device)
            let mixed = Credential(idObject: good.idObject, encryptedSecret: second.encryptedSecret)
            #expect(error(mixed, device.chain[0])?.code.category == .rejected)
            #expect(error(good, device.chain[0]) == nil)
        }
    }

    @Test func credentialsThatAreNone() throws {
        try with { software, device, service in
            let activation = device.activation("c", for: service)
            let (_, good) = try service.challenge(to: device)
            func code(_ credential: Credential, _ certificate: [UInt8]) -> TenonError.Code? {
                let code = errorThrown {
                    try device.ak.activate(activation, with: credential, certificate: certificate)
                }?.code
                let secret = errorThrown { try device.ak.secret(of: credential, certificate: certificate) }?.code
                #expect(secret == code)
                return code
            }
            support_transport_reset_counts(software.wire)
            for wrong in [[], [0], [0, 0], good.idObject + [0], [UInt8](repeating: 0, count: 1 << 20)] {
                let credential = Credential(idObject: wrong, encryptedSecret: good.encryptedSecret)
                #expect(code(credential, device.chain[0]) == .credentialForm)
                let other = Credential(idObject: good.idObject, encryptedSecret: wrong)
                #expect(code(other, device.chain[0]) == .credentialForm)
            }
            for wrong in [[], [0x30], device.chain[0] + [0], [UInt8](repeating: 0x30, count: 1 << 20)] {
                #expect(code(good, wrong) == .rule22Certificate)
            }
            #expect(code(good, device.chain[1]) == .rule36EKKey)
            #expect(software.commands() == 0)
        }
    }

    @Test func anotherTPM() throws {
        try withTPM(state: Endorsed.state) { _, tpm in
            try withTPM { _, foreign in
                let device = try Device(tpm)
                let (_, credential) = try Service().challenge(to: device)
                let ak = try TPM.AttestationKey(beside: TPM.PrivateKey(in: foreign))
                let error = errorThrown { try ak.secret(of: credential, certificate: device.chain[0]) }
                #expect(error?.code == .ekMissing)
            }
        }
    }

    /// As with an attestation CA; the secret does not cross the bus in clear.
    @Test(.endorsedTPM, arguments: [(EndorsementKey.Kind.rsa2048, 1), (.rsa2048, 32), (.p384, 32), (.p384, 48)])
    func secrets(_ kind: EndorsementKey.Kind, _ count: Int) async throws {
        let device = try Device(tpm, kind)
        let bytes = (0..<count).map { UInt8(100 + $0) }
        let secret = Secret(copying: bytes.span)
        let ek = try EndorsementKey(verifying: device.chain, policy: Service().policy)
        let credential = try Credential(secret, for: ek, akName: device.ak.name)
        if count >= 32 { support_transport_watch(software.wire, bytes, bytes.count) }
        let found = try await device.ak.secret(of: credential, certificate: device.chain[0])
        #expect(found == secret && found.count == count)
        #expect(support_transport_watched(software.wire) == 0)
        // A secret that is not ours gives no activation.
        let code = await errorAwaited {
            try await device.ak.activate(
                Activation(origin: "o", appID: "a", challenge: "c", keyText: "k"), with: credential,
                certificate: device.chain[0])
        }?.code
        #expect(code == (count == 32 ? nil : .credentialForm))
    }

    /// The texts are checked as on the service's side.
    @Test func emptyTexts() throws {
        try with { _, device, service in
            let (_, credential) = try service.challenge(to: device)
            for index in 0..<4 {
                let texts = (0..<4).map { $0 == index ? "" : "text" }
                let activation = Activation(origin: texts[0], appID: texts[1], challenge: texts[2], keyText: texts[3])
                let error = errorThrown {
                    try device.ak.activate(activation, with: credential, certificate: device.chain[0])
                }
                #expect(error?.code == .empty)
            }
        }
    }
}
