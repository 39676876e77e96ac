// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// The proof of a registration: the base64url that came, or what a step has read of it already.
package enum SentProof: Sendable {
    case text(String)
    case read(Proof)

    func read() throws(TenonError) -> Proof {
        switch self {
        case .text(let text): Proof(dataRepresentation: try TextEncoding.base64url.decode(text))
        case .read(let proof): proof
        }
    }
}

/// The evidence with which a device shows at its registration where its key is.
package struct KeyEvidence: Sendable {
    /// The challenge and the public key as they were sent, which the proof and the activation are bound to.
    package var challenge: String
    package var keyText: String
    /// nil if none was sent.
    package var proof: SentProof?
    package var activation: [UInt8]?
    /// Whether the device says that it is a development build.
    package var isDevelopment: Bool
    /// The nonce that the proof must contain.
    package var nonce: @Sendable () throws(TenonError) -> Digest

    package init(
        challenge: String, keyText: String, proof: SentProof?, activation: [UInt8]?, isDevelopment: Bool,
        nonce: @escaping @Sendable () throws(TenonError) -> Digest
    ) {
        self.challenge = challenge
        self.keyText = keyText
        self.proof = proof
        self.activation = activation
        self.isDevelopment = isDevelopment
        self.nonce = nonce
    }
}

/// The facts about the key of a registration after its evidence was verified.
package struct KeyAssurance: Sendable {
    package var level: Device.Level
    var attestation: Device.Attestation?
    /// The serial of the AK's certificate.
    var serial: [UInt8]?
    var certificate: DeviceRegistration.Certificate?
    /// Issues the AK's certificate, once it is recorded, and returns it with those above it; nil if none is to be
    /// issued.
    package var issue: (@Sendable (AuthorityEngine) async throws(Refusal) -> [[UInt8]])?

    /// The assurance of a key for which nothing vouches.
    package static let unattested = KeyAssurance(level: .unattested)
}

extension AuthorityEngine {
    /// Judges the evidence of a registration, after its challenge was taken (decision: folded-activation).
    package func assurance(
        of key: PublicKey, by evidence: KeyEvidence, redeeming entry: ChallengeEntry, for app: AppRecord
    ) async throws(Refusal) -> KeyAssurance {
        let isDevelopment = evidence.isDevelopment
        // Checked first, whatever else the device sends (decision: development-builds).
        guard !isDevelopment || app.allowsDevelopment else {
            throw Refusal(
                .invalidAttestation, "Development builds are refused here.", status: 403, cause: "development_build")
        }
        // An activation is required if the challenge had a credential, and refused if it had none (decision:
        // never-weaker).
        guard (entry.attestation == nil) == (evidence.activation == nil) else {
            throw Refusal(
                .invalidAttestation, "The challenge and the activation do not belong together.", cause: "activation")
        }
        if let attestation = entry.attestation { return try await activated(evidence, entry, attestation, key, app) }
        if let proof = evidence.proof {
            let proof = try refusing(Refusal.init(attestation:)) { () throws(TenonError) in try proof.read() }
            return try await certified(evidence, proof, key, app)
        }
        guard isDevelopment || !app.requiresAttestation else {
            throw Refusal(
                .invalidAttestation, "The app's devices cannot register without a proof.", status: 403,
                cause: "attestation_required")
        }
        return KeyAssurance(level: isDevelopment ? .software : .unattested)
    }

    /// Verifies the activation before the proof is parsed, and then the proof under the AK that is kept with the
    /// challenge.
    private func activated(
        _ evidence: KeyEvidence, _ entry: ChallengeEntry, _ attestation: ChallengeEntry.Attestation,
        _ key: PublicKey, _ app: AppRecord
    ) async throws(Refusal) -> KeyAssurance {
        let ak = try refusing { () throws(TenonError) in try PublicArea(dataRepresentation: attestation.akPublic) }
        try await gate.run { () throws(Refusal) in
            try refusing(Refusal.init(attestation:)) { () throws(TenonError) in
                let nonce = try evidence.nonce()
                try verify(evidence, entry, attestation, ak)
                guard let proof = try evidence.proof?.read() else { throw .noProof }
                try proof.verify(key, nonce: nonce, policy: policy(.ak(ak), app, parent: attestation.parent))
            }
        }
        let hidden = try refusing { () throws(TenonError) in try keys.hidden(attestation.ekID) }
        let terms = certificateTerms()
        let record = AKCertificate(
            serial: terms.serial, app: entry.app, ek: hidden, akName: ak.name, notAfter: terms.notAfter)
        return KeyAssurance(
            level: .attested,
            attestation: Device.Attestation(ek: hidden, akName: ak.name, akPublic: attestation.akPublic),
            serial: terms.serial, certificate: .issued(record),
            issue: { service async throws(Refusal) in try await service.chain(for: ak, attestation, terms) })
    }

    private func verify(
        _ evidence: KeyEvidence, _ entry: ChallengeEntry, _ attestation: ChallengeEntry.Attestation, _ ak: PublicArea
    ) throws(TenonError) {
        let secret = try Activation.secret(
            forChallenge: evidence.challenge, ekID: attestation.ekID, akName: ak.name, key: keys.activation)
        let activation = Activation(
            origin: entry.origin, appID: entry.app, challenge: evidence.challenge, keyText: evidence.keyText)
        try activation.verify(evidence.activation ?? [], secret: secret, ekID: attestation.ekID, akName: ak.name)
    }

    /// The policy for a proof. The parent's Name may come from the device: if it names another object than the key's
    /// parent, or one that is not a primary key of the owner hierarchy, the qualified Name that the TPM certified
    /// differs.
    func policy(
        _ trust: ProofPolicy.Trust, _ app: AppRecord, parent: [UInt8]?
    ) throws(TenonError) -> ProofPolicy {
        var policy = ProofPolicy(trust: trust, now: clock.now().seconds)
        guard app.requiresOwnerHierarchy else { return policy }
        guard let parent else { throw .noParent }
        policy.parentQualifiedName = try KeyParent.qualifiedName(ofOwnerPrimary: parent)
        return policy
    }

    /// Judges a proof with an AK certificate of this authority, for a challenge without a credential.
    private func certified(
        _ evidence: KeyEvidence, _ proof: Proof, _ key: PublicKey, _ app: AppRecord
    ) async throws(Refusal) -> KeyAssurance {
        let serial = try await gate.run { () throws(Refusal) in
            try refusing(Refusal.init(attestation:)) { () throws(TenonError) in
                try verify(proof, of: key, nonce: evidence.nonce(), app, parent: nil)
            }
        }
        let record = try await waiting { () throws(TenonError) in try await stores.devices.certificate(serial: serial)
        }
        // The store checks, as it registers the device, that the certificate is live and belongs to this app.
        guard let record else {
            throw .certificate
        }
        return KeyAssurance(
            level: .attested, attestation: Device.Attestation(ek: record.ek, akName: record.akName, akPublic: []),
            serial: serial, certificate: .shown(serial: serial))
    }

    /// Verifies a proof below our own roots, and gives the serial of its AK's certificate.
    func verify(
        _ proof: Proof, of key: PublicKey, nonce: Digest, _ app: AppRecord, parent: [UInt8]?
    ) throws(TenonError) -> [UInt8] {
        let policy = try policy(.roots(keys.roots), app, parent: parent)
        try proof.verify(key, nonce: nonce, policy: policy)
        guard let leaf = try proof.evidence().certificates.first, let serial = serial(ofCertificate: leaf) else {
            throw TenonError(.certificateForm, message: "The serial number of the AK certificate is malformed.")
        }
        return serial
    }
}

extension AuthorityEngine {
    /// Verifies another key of a device: its proof must be by the device's attestation key, whose certificate must be
    /// valid in the app.
    package func verify(
        _ proof: Proof, of key: PublicKey, nonce: Digest, by ak: PublicKey, _ app: AppRecord
    ) async throws(Refusal) {
        let serial = try await gate.run { () throws(Refusal) in
            try refusing(Refusal.init(attestation:)) { () throws(TenonError) in
                let serial = try verify(proof, of: key, nonce: nonce, app, parent: nil)
                guard let leaf = try proof.evidence().certificates.first,
                    CertifiedAK(certificate: leaf)?.publicKey == ak
                else { throw .otherTPM }
                return serial
            }
        }
        let record = try await waiting { () throws(TenonError) in try await stores.devices.certificate(serial: serial) }
        guard let record, record.isLive, record.app == app.id else { throw .certificate }
    }
}

extension Proof {
    /// A proof in base64url.
    package init(sent text: String) throws(Refusal) {
        self.init(
            dataRepresentation: try refusing(Refusal.init(attestation:)) { () throws(TenonError) in
                try TextEncoding.base64url.decode(text)
            })
    }
}

/// The parent of a key, by its Name.
package enum KeyParent {
    /// A Name with SHA-256.
    package static let nameSize = 34

    /// The qualified Name that a primary key has only in the owner hierarchy (TPM 2.0 Part 1, 16): nameAlg, and the
    /// digest of TPM_RH_OWNER and the Name.
    static func qualifiedName(ofOwnerPrimary name: [UInt8]) throws(TenonError) -> [UInt8] {
        let owner: [UInt8] = [0x40, 0x00, 0x00, 0x01]
        return [0x00, 0x0b] + (try Digest(hashing: owner + name)).rawRepresentation
    }
}

extension TenonError {
    fileprivate static let noProof = TenonError(.proofForm, message: "There is no proof.")
    fileprivate static let otherTPM = TenonError(
        .rule32Signature, message: "The proof is not by the attestation key of this device.")
    fileprivate static let noParent = TenonError(.rule11Parent, message: Refusal.noParent.message)
}

extension Refusal {
    static let certificate = Refusal(
        .invalidAttestation, "The AK certificate is not valid here.", status: 403, cause: "ak_certificate")
    static let noParent = Refusal(
        .invalidAttestation,
        "The app needs parent_name, the Name of the key's parent. This device is too old, or uses "
            + "another dialect.", cause: "rule_11")
}

/// The serial number of a verified certificate, as 16 bytes (RFC 5280, 4.1); nil if it is longer.
func serial(ofCertificate der: [UInt8]) -> [UInt8]? {
    var outer = DERReader(der)
    guard var whole = outer.enter(0x30), var body = whole.enter(0x30), body.take(0xa0) != nil,
        let number = body.take(0x02)
    else { return nil }
    let digits = number.drop { $0 == 0 }
    guard digits.count <= 16 else { return nil }
    return [UInt8](repeating: 0, count: 16 - digits.count) + digits
}
