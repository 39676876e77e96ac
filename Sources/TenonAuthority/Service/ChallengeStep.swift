// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// The body of `POST /v1/device/challenge`.
private struct ChallengeMessage {
    let appID: String
    /// Of dialect `tenon`: both or neither.
    let ekCertificates: [[UInt8]]?
    let ak: [UInt8]?
    /// Of the parent of the key that is going to be registered: its Name. Older devices do not say it.
    let parent: [UInt8]?

    init(_ message: MessageObject) throws(TenonError) {
        guard let appID = try message.text("app_id", maxBytes: 200) else { throw message.missing("app_id") }
        self.appID = appID
        ekCertificates = try message.certificates("ek_certificates")
        ak = try message.bytes("ak_public", sizes: 1...1_024)
        parent = try message.bytes("parent_name", sizes: KeyParent.nameSize...KeyParent.nameSize)
        if ekCertificates != nil && ak == nil { throw message.missing("ak_public") }
        if ekCertificates == nil && ak != nil { throw message.missing("ek_certificates") }
    }
}

extension AuthorityService {
    /// The cheapest first (decision: folded-activation).
    func challenge(_ request: AuthorityRequest) async throws(Refusal) -> AuthorityAnswer {
        let object = try request.message()
        let message = try refusing(Refusal.init(form:)) { () throws(TenonError) in try ChallengeMessage(object) }
        let app = try app(message.appID)
        let dialect = message.ak == nil ? AppRecord.Dialect.docs : .tenon
        guard app.dialects.contains(dialect) else {
            throw Refusal(.invalidRequest, "The app does not take dialect \(dialect.rawValue).")
        }
        let now = clock.now()
        let text = try refusing { () throws(TenonError) in
            try ChallengeText(madeAt: now.seconds, key: keys.activation).text
        }
        var entry = ChallengeEntry(
            purpose: .registration, app: app.id, origin: try origin(of: request), dialect: dialect.rawValue,
            deadline: now.advanced(byMilliseconds: Self.challengeLife * 1_000),
            asker: Address.subscriber(request.peer))
        var credential: JSON?
        if let ak = message.ak, let certificates = message.ekCertificates {
            let offer = try await offer(text, ak, certificates, message.parent, app)
            entry.attestation = offer.attestation
            credential = [
                "credential": .bytes(offer.credential.idObject), "secret": .bytes(offer.credential.encryptedSecret),
            ]
        }
        let (key, kept) = (try digest(of: text), entry)
        try await waiting { () throws(TenonError) in try await stores.challenges.put(kept, under: key) }
        return try AuthorityAnswer([
            "challenge": .string(text), "ttl_seconds": .integer(Self.challengeLife),
            "expires_at": .string(CivilDate.iso8601(now.seconds + Self.challengeLife)), "activation": credential,
        ])
    }

    /// Under what a challenge is kept.
    func digest(of text: String) throws(Refusal) -> Digest {
        try refusing { () throws(TenonError) in try Digest(hashing: Array(text.utf8)) }
    }

    /// The secret is derived, and kept nowhere (decision: derived-secret).
    private func offer(
        _ challenge: String, _ akPublic: [UInt8], _ certificates: [[UInt8]], _ parent: [UInt8]?, _ app: AppRecord
    ) async throws(Refusal) -> (credential: Credential, attestation: ChallengeEntry.Attestation) {
        let ak = try refusing(Refusal.init(attestation:)) { () throws(TenonError) in
            let ak = try PublicArea(dataRepresentation: akPublic)
            try ak.verifyIsAttestationKey()
            return ak
        }
        if app.requiresOwnerHierarchy, parent == nil { throw .noParent }
        let admitted = try await admit(certificates, for: app)
        let ek = admitted.key
        let credential = try await gate.run { () throws(Refusal) in
            try refusing { () throws(TenonError) in
                let secret = try Activation.secret(
                    forChallenge: challenge, ekID: ek.id, akName: ak.name, key: keys.activation)
                return try Credential(secret, for: ek, akName: ak.name)
            }
        }
        return (credential, ChallengeEntry.Attestation(admitted, ak, parent: parent))
    }
}

/// The text of a challenge: 32 random bytes, when it was made, and a mark of ours. So an old one is told from one that
/// never was, without anything that is kept for it. The mark is worth nothing else: a challenge is redeemed by what is
/// kept under it.
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
