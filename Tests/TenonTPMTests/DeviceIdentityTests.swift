// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Glibc
import Synchronization
import Tenon
import TenonTPM
import TestFolders
import Testing

/// An identity in a TPM, at a service that verifies its proofs, with the certificate of an attestation CA or by a
/// credential of its own.
@Suite(.timeLimit(.minutes(1))) struct DeviceIdentityTests {
    /// A service and an attestation CA, made of this package's types.
    private final class World: Transport {
        let service: Service
        let ca: AttestationCA
        let root: [UInt8]
        let endorsement: EndorsementPolicy
        let pending = PendingActivations()
        let isFolded: Bool
        private let state = Mutex((challenge: Service.Pending?.none, key: PublicKey?.none, paths: [String]()))

        init(isFolded: Bool) throws {
            self.isFolded = isFolded
            service = try Service()
            endorsement = service.policy
            let now = service.policy.now
            let terms = CertificateTerms(serial: Array(1...16), notBefore: now - 1, notAfter: now + 10_000_000)
            let (rootKey, key) = try (SoftwareKey(signsDigests: true), SoftwareKey(signsDigests: true))
            let above = try AttestationAuthority(root: "Root", key: rootKey, terms: terms)
            let own = try above.certificate(forAuthority: "Issuer", key: key.publicKey, terms: terms)
            root = above.certificate
            ca = AttestationCA(authority: AttestationAuthority(certificate: own, key: key))
        }

        var key: PublicKey? { state.withLock { $0.key } }
        var paths: [String] { state.withLock { $0.paths } }

        func exchange(
            _ request: HTTPRequest, deadline: ContinuousClock.Instant
        ) async throws(TenonError) -> HTTPResponse {
            let path = String(request.url.drop { $0 != "e" }.split(separator: "/").last ?? "")
            state.withLock { $0.paths.append(path) }
            let body = try answer(path, request.body)
            let now = Moment(continuous: .now, sinceEpoch: .seconds(endorsement.now))
            return HTTPResponse(status: 200, headers: [], body: body, sent: now, received: now)
        }

        private func answer(_ path: String, _ body: [UInt8]) throws(TenonError) -> [UInt8] {
            switch path {
            case "attest": return try ca.answer(attest: body, endorsement: endorsement, pending: pending)
            case "secret": return try ca.answer(secret: body, endorsement: endorsement, pending: pending).answer
            case "challenge": return try challenge(JSON(parsing: body))
            case "register": return try register(JSON(parsing: body))
            default: return Array("{}".utf8)
            }
        }

        private func challenge(_ body: JSON) throws(TenonError) -> [UInt8] {
            guard isFolded else { return Array("{}".utf8) }
            let chain = try Wire.bytes(body, "chain")
            let (pending, credential) = try service.challenge("c", chain, Wire.bytes(body, "ak")[0])
            state.withLock { $0.challenge = pending }
            return try JSON.object(Wire.object([("credential", [credential.idObject, credential.encryptedSecret])]))
                .encoded()
        }

        private func register(_ body: JSON) throws(TenonError) -> [UInt8] {
            let proof = try Wire.bytes(body, "proof")[0]
            let keyText = body["key"]?.string ?? ""
            let spki = try TextEncoding.base64.decode(keyText)
            let key = try PublicKey(derRepresentation: spki.span)
            if let pending = state.withLock({ $0.challenge }) {
                try service.register(pending, keyText, value: Wire.bytes(body, "activation")[0], proof: proof)
            } else {
                try Proof(dataRepresentation: proof).verify(
                    key, nonce: Digest(bindingChallenge: "c", toKeyText: keyText),
                    policy: ProofPolicy(trust: .roots([root]), now: endorsement.now))
            }
            state.withLock { $0.key = key }
            return Array("{}".utf8)
        }
    }

    private enum Wire {
        static func object(_ members: [(String, [[UInt8]])]) -> JSONObject {
            var object = JSONObject()
            for (name, values) in members {
                object[name] = .array(values.map { .string(TextEncoding.base64.encode($0)) })
            }
            return object
        }

        static func bytes(_ json: JSON, _ name: String) throws(TenonError) -> [[UInt8]] {
            var all: [[UInt8]] = []
            for value in json[name]?.array ?? [] { all.append(try TextEncoding.base64.decode(value.string ?? "")) }
            return all
        }
    }

    private struct Profile: ServiceProfile {
        let declaration: ServiceDeclaration

        init(_ origin: String, _ rule: AttestationRule) {
            var declaration = ServiceDeclaration(profile: "test", dialect: "test", baseURL: origin, alias: "test")
            declaration.attestation = rule
            self.declaration = declaration
        }

        func text(of key: PublicKey) -> String { TextEncoding.base64.encode(key.derRepresentation) }

        func challengeRequest(_ device: ServiceDevice, _ offer: AttestationOffer?) throws(TenonError) -> HTTPRequest {
            let members = offer.map {
                [("chain", $0.endorsementCertificates), ("ak", [$0.attestationKey.dataRepresentation])]
            }
            return try post("/challenge", Wire.object(members ?? []))
        }

        func challenge(in answer: HTTPResponse) -> ServiceAnswer<ServiceChallenge> {
            guard let json = try? JSON(parsing: answer.body), let parts = try? Wire.bytes(json, "credential") else {
                return declaration.failure(answer, code: nil)
            }
            let credential = parts.count == 2 ? Credential(idObject: parts[0], encryptedSecret: parts[1]) : nil
            return .accepted(ServiceChallenge(text: "c", credential: credential))
        }

        func qualifyingData(_ device: ServiceDevice, _ terms: RegistrationTerms) throws(TenonError) -> [UInt8] {
            try Digest(bindingChallenge: "c", toKeyText: text(of: terms.key)).rawRepresentation
        }

        func registration(_ device: ServiceDevice, _ terms: RegistrationTerms) throws(TenonError) -> ServiceDraft {
            var body = Wire.object([
                ("proof", [terms.proof?.dataRepresentation ?? []]),
                ("activation", [terms.activation?.rawRepresentation ?? []]),
            ])
            body["key"] = .string(text(of: terms.key))
            return .ready(try post("/register", body))
        }

        func registration(in answer: HTTPResponse, to request: HTTPRequest) -> ServiceAnswer<RegistrationOutcome> {
            .accepted(.registered(deviceID: "device-1", attestationCertificates: []))
        }

        func headers(_ values: RequestHeaders) throws(TenonError) -> [(name: String, value: String)] {
            [("X-Signature", values.signature)]
        }

        private func post(_ path: String, _ body: JSONObject) throws(TenonError) -> HTTPRequest {
            HTTPRequest(method: "POST", url: declaration.baseURL + path, body: try JSON.object(body).encoded())
        }
    }

    private func identity(
        _ tpm: TPM, _ world: World, _ folder: String, isTold: Bool = true, disclosure: TPM.Disclosure? = nil
    ) throws -> DeviceIdentity {
        let profile = Profile(world.service.origin, world.isFolded ? .activation : .certificate)
        let authority = DeviceIdentity.AttestationService(url: "https://ca.example", roots: [world.root])
        let above = isTold ? [try Endorsed.issuer()] : []
        let vault = TPMKeyVault(tpm, disclosure ?? .endorsement(above: above))
        return try DeviceIdentity(
            appID: world.service.appID, profile: profile, vault: vault, transport: world,
            attestationService: isTold ? authority : nil, folder: StateFolder(at: folder),
            clock: clock(world.endorsement.now))
    }

    private func clock(_ seconds: Int64) -> FlowClock {
        FlowClock(
            moment: { Moment(continuous: .now, sinceEpoch: .seconds(seconds)) }, boot: "boot", wait: { _ in },
            draw: { _ in .zero })
    }

    @Test(arguments: [true, false])
    func registersWithAProofThatHolds(_ isFolded: Bool) async throws {
        try await withTPM(state: Endorsed.state) { software, tpm in
            let folder = try ScratchFolder()
            let world = try World(isFolded: isFolded)
            try await identity(tpm, world, folder.path).register()
            #expect(
                world.paths == (isFolded ? ["challenge", "register"] : ["attest", "secret", "challenge", "register"]))
            let again = try identity(try software.tpm(), world, folder.path)
            let signed = try await again.sign("POST", path: "/x", body: [1])
            var message = try RequestMessage(method: "POST", path: "/x", timestamp: signed.timestamp)
            let body: [UInt8] = [1]
            try message.update(body.span)
            let der = try TextEncoding.base64.decode(signed.signature)
            let signature = try Signature(derRepresentation: der.span)
            #expect(try #require(world.key).isValidSignature(signature, for: message.finish()))
            #expect(try await again.register().status == .alreadyRegistered)
            withExtendedLifetime(folder) {}
        }
    }

    /// The disk of a registered device in another machine, and back (decision: other-machine, attic).
    @Test("W22: a record in another machine", arguments: [false, true])
    func w22_aRecordInAnotherMachine(_ isBlocking: Bool) async throws {
        try await withTPM(state: Endorsed.state) { _, tpm in
            let scratch = try ScratchFolder()
            defer { withExtendedLifetime(scratch) {} }
            let folder = scratch.path
            let world = try World(isFolded: true)
            let registered = try await identity(tpm, world, folder).register()
            let key = world.key
            let sent = world.paths
            try await withTPM { _, other in
                let moved = try identity(other, world, folder)
                #expect(await code(moved, isBlocking) == .keyInvalidated)
                #expect(try moved.status().state == .keyInvalid)
                #expect(try moved.status().reason == .foreignTPM)
                // Nothing begins anew without a request: nothing was made, sent or moved away.
                #expect(try await moved.attic() == [])
                #expect(world.paths == sent)
            }
            let back = try identity(tpm, world, folder)
            // No other step is needed.
            #expect(await code(back, isBlocking) == nil)
            #expect(try await back.register().deviceID == registered.deviceID)
            #expect(world.paths == sent)
            #expect(world.key == key)
            #expect(await code(back, isBlocking) == nil)
        }
    }

    /// The same machine, whose TPM was cleared: its endorsement key says so. On a bare TPM the signature finds it.
    @Test(arguments: [false, true], [false, true])
    func aClearedTPMIsNoOtherMachine(_ isBlocking: Bool, _ isBare: Bool) async throws {
        try await withTPM(state: Endorsed.state, isBare: isBare) { software, tpm in
            let scratch = try ScratchFolder()
            defer { withExtendedLifetime(scratch) {} }
            let folder = scratch.path
            let world = try World(isFolded: true)
            try await identity(tpm, world, folder).register()
            #expect(support_clear(software.device, SUPPORT_RH_LOCKOUT, nil) == 0)
            let cleared = try identity(try software.tpm(), world, folder)
            #expect(await code(cleared, isBlocking) == .keyInvalidated)
            #expect(try cleared.status().reason == .tpmCleared)
        }
    }

    /// A process that had the key loaded registers anew after a clear, too.
    @Test(arguments: [false, true])
    func theProcessThatHadTheKeyLoaded(_ isBare: Bool) async throws {
        try await withTPM(state: Endorsed.state, isBare: isBare) { software, tpm in
            let scratch = try ScratchFolder()
            defer { withExtendedLifetime(scratch) {} }
            let world = try World(isFolded: true)
            let device = try identity(tpm, world, scratch.path)
            try await device.register()
            #expect(support_clear(software.device, SUPPORT_RH_LOCKOUT, nil) == 0)
            #expect(await code(device, false) == .keyInvalidated)
            try await device.register()
            #expect(await code(device, false) == nil)
        }
    }

    /// The CA, its roots and the certificates above the TPM's are kept by the record, once they were taken: of a
    /// cleared TPM, and after a reset. That the certificate may be shown is said each time.
    @Test(arguments: [true, false])
    func whatWasToldOnceNeedNotBeToldAgain(_ isFolded: Bool) async throws {
        try await withTPM(state: Endorsed.state) { software, tpm in
            let scratch = try ScratchFolder()
            defer { withExtendedLifetime(scratch) {} }
            let folder = scratch.path
            let world = try World(isFolded: isFolded)
            try await identity(tpm, world, folder).register()
            #expect(support_clear(software.device, SUPPORT_RH_LOCKOUT, nil) == 0)
            let again = try software.tpm()
            let cleared = try identity(again, world, folder, isTold: false)
            #expect(await code(cleared, false) == .keyInvalidated)
            let hidden = try identity(again, world, folder, isTold: false, disclosure: .nothing)
            let error = await errorAwaited { () async throws(TenonError) in _ = try await hidden.register() }
            #expect(error?.code == .attestationUnavailable)
            #expect(try cleared.status().reason == .tpmCleared)
            try await cleared.register()
            #expect(await code(cleared, false) == nil)
            try await cleared.reset()
            try await cleared.register()
            #expect(await code(cleared, false) == nil)
        }
    }

    /// The error of signing, if any.
    private func code(_ identity: DeviceIdentity, _ isBlocking: Bool) async -> TenonError.Code? {
        if isBlocking { return Self.blocking(identity)?.code }
        return await errorAwaited { () async throws(TenonError) in try await identity.sign("GET", path: "/") }?.code
    }

    private static func blocking(_ identity: DeviceIdentity) -> TenonError? {
        errorThrown { () throws(TenonError) in try identity.sign("GET", path: "/") }
    }

    /// A proof that a verifier asks for holds for its nonce, and for the key that signs.
    @Test func attestsToWhoeverAsks() async throws {
        try await withTPM(state: Endorsed.state) { _, tpm in
            let scratch = try ScratchFolder()
            defer { withExtendedLifetime(scratch) {} }
            let folder = scratch.path
            let world = try World(isFolded: true)
            let identity = try identity(tpm, world, folder)
            let (nonce, other) = (try Digest(hashing: [1]), try Digest(hashing: [2]))
            let error = await errorAwaited { () async throws(TenonError) in
                _ = try await identity.attest(nonce: nonce)
            }
            #expect(error?.code == .notRegistered)
            try await identity.register()
            let made = try await identity.attest(nonce: nonce)
            #expect(made.publicKey == world.key)
            let policy = ProofPolicy(trust: .ak(made.attestationKey), now: world.endorsement.now)
            try made.proof.verify(made.publicKey, nonce: nonce, policy: policy)
            #expect(made.proof.report(on: made.publicKey, nonce: other, policy: policy).verdict != .accepted)
            #expect(try made.proof.evidence().certificates.isEmpty)
            try made.attestationKey.verifyIsAttestationKey()
            #expect(world.paths == ["challenge", "register"])
        }
    }
}
