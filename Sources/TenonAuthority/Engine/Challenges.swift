// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// The facts about its TPM that a device sends when it asks for a challenge that is bound to the TPM.
package struct EndorsementOffer: Sendable {
    /// The EK's certificate and those above it, DER.
    package var certificates: [[UInt8]]
    /// The AK's TPMT_PUBLIC.
    package var akPublic: [UInt8]
    /// The Name of the parent of the key that is going to be registered, if the device sends it.
    package var parent: [UInt8]?

    package init(certificates: [[UInt8]], akPublic: [UInt8], parent: [UInt8]?) {
        self.certificates = certificates
        self.akPublic = akPublic
        self.parent = parent
    }
}

/// An issued challenge, which can be redeemed once.
package struct IssuedChallenge: Sendable {
    package let text: String
    /// Unix seconds.
    package let expiresAt: Int64
    /// The credential for the TPM that was offered; nil without one.
    package let credential: Credential?
}

extension AuthorityEngine {
    /// Issues a challenge for a registration.
    ///
    /// - Parameters:
    ///   - dialect: the service's own name for the form of the request.
    ///   - offer: the TPM that the registration is going to be bound to; nil for none.
    package func issueChallenge(
        to app: AppRecord, by request: AuthorityRequest, dialect: String, offer: EndorsementOffer? = nil
    ) async throws(Refusal) -> IssuedChallenge {
        let now = clock.now()
        let text = try refusing { () throws(TenonError) in
            try ChallengeText(madeAt: now.seconds, key: keys.activation).text
        }
        var entry = ChallengeEntry(
            purpose: .registration, app: app.id, origin: try origin(of: request), dialect: dialect,
            deadline: now.advanced(byMilliseconds: Self.challengeLife * 1_000),
            asker: Address.subscriber(request.peer))
        var credential: Credential?
        if let offer { (credential, entry.attestation) = try await self.credential(text, offer, app) }
        let (key, kept) = (try digest(of: text), entry)
        try await waiting { () throws(TenonError) in try await stores.challenges.put(kept, under: key) }
        return IssuedChallenge(text: text, expiresAt: now.seconds + Self.challengeLife, credential: credential)
    }

    /// The key under which a challenge is stored.
    package func digest(of text: String) throws(Refusal) -> Digest {
        try refusing { () throws(TenonError) in try Digest(hashing: Array(text.utf8)) }
    }

    /// The secret is derived, and kept nowhere (decision: derived-secret).
    private func credential(
        _ challenge: String, _ offer: EndorsementOffer, _ app: AppRecord
    ) async throws(Refusal) -> (Credential?, ChallengeEntry.Attestation?) {
        let ak = try refusing(Refusal.init(attestation:)) { () throws(TenonError) in
            let ak = try PublicArea(dataRepresentation: offer.akPublic)
            try ak.verifyIsAttestationKey()
            return ak
        }
        if app.requiresOwnerHierarchy, offer.parent == nil { throw .noParent }
        let admitted = try await admit(offer.certificates, for: app)
        let ek = admitted.key
        let credential = try await gate.run { () throws(Refusal) in
            try refusing { () throws(TenonError) in
                let secret = try Activation.secret(
                    forChallenge: challenge, ekID: ek.id, akName: ak.name, key: keys.activation)
                return try Credential(secret, for: ek, akName: ak.name)
            }
        }
        return (credential, ChallengeEntry.Attestation(admitted, ak, parent: offer.parent))
    }
}

/// The text of a challenge: 32 random bytes, the time when it was made, and a MAC. The MAC tells an expired challenge
/// from one that this authority never issued, without storing anything. It proves nothing else: redeeming a challenge
/// depends on the stored entry.
struct ChallengeText {
    let text: String

    private static let label = Array("tenon/challenge/1\n".utf8)
    private static let (randomSize, timeSize, markSize) = (32, 8, 16)

    init(madeAt seconds: Int64, key: Secret) throws(TenonError) {
        let time = (0..<ChallengeText.timeSize).map { UInt8(truncatingIfNeeded: seconds >> (56 - 8 * $0)) }
        let body = [UInt8](random: ChallengeText.randomSize) + time
        text = TextEncoding.base64.encode(body + (try ChallengeText.mark(of: body, key)))
    }

    /// When a challenge of ours was made; nil for any other text.
    static func time(of text: String, key: Secret) throws(TenonError) -> Int64? {
        guard let bytes = try? TextEncoding.base64.decode(text), bytes.count == randomSize + timeSize + markSize else {
            return nil
        }
        let body = Array(bytes.prefix(randomSize + timeSize))
        guard try mark(of: body, key).elementsEqual(bytes.suffix(markSize)) else { return nil }
        return body.suffix(timeSize).reduce(0) { $0 << 8 | Int64($1) }
    }

    private static func mark(of body: [UInt8], _ key: Secret) throws(TenonError) -> ArraySlice<UInt8> {
        try Digest(authenticating: label + body, key: key).rawRepresentation.prefix(markSize)
    }
}

extension ChallengeEntry.Attestation {
    init(_ admitted: AdmittedKey, _ ak: PublicArea, parent: [UInt8]? = nil) {
        let (ek, words) = (admitted.key, admitted.words)
        self.init(
            ekID: ek.id, ekCertificate: ek.certificateDigest, akPublic: ak.dataRepresentation,
            maker: Array(words.maker.utf8), model: Array(words.model.utf8), version: Array(words.version.utf8),
            parent: parent)
    }
}
