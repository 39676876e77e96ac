// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// The body of `POST /v1/device/challenge`.
private struct ChallengeMessage {
    let appID: String
    /// Of dialect `tenon`: both or neither.
    let ekCertificates: [[UInt8]]?
    let ak: [UInt8]?

    init(_ message: MessageObject) throws(TenonError) {
        guard let appID = try message.text("app_id", maxBytes: 200) else { throw message.missing("app_id") }
        self.appID = appID
        ekCertificates = try message.certificates("ek_certificates")
        ak = try message.bytes("ak_public", sizes: 1...1_024)
        if ekCertificates != nil && ak == nil { throw message.missing("ak_public") }
        if ekCertificates == nil && ak != nil { throw message.missing("ek_certificates") }
    }
}

extension AuthorityService {
    /// security.md 1.2, step 1: the cheapest first.
    func challenge(_ request: AuthorityRequest) async throws(Refusal) -> AuthorityAnswer {
        let object = try request.message()
        let message = try refusing(Refusal.init(form:)) { () throws(TenonError) in try ChallengeMessage(object) }
        let app = try app(message.appID)
        let dialect = message.ak == nil ? AppRecord.Dialect.docs : .tenon
        guard app.dialects.contains(dialect) else {
            throw Refusal(.invalidRequest, "The app does not take dialect \(dialect.rawValue).")
        }
        let text = TextEncoding.base64.encode([UInt8](random: 32))
        let now = clock.now()
        var entry = ChallengeEntry(
            purpose: .registration, app: app.id, origin: try origin(of: request), dialect: dialect.rawValue,
            deadline: now.advanced(byMilliseconds: Self.challengeLife * 1_000),
            asker: Address.subscriber(request.peer))
        var credential: JSON?
        if let ak = message.ak, let certificates = message.ekCertificates {
            let offer = try await offer(text, ak, certificates, app)
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

    /// security.md 1.2, step 2: the secret is derived, and kept nowhere.
    private func offer(
        _ challenge: String, _ akPublic: [UInt8], _ certificates: [[UInt8]], _ app: AppRecord
    ) async throws(Refusal) -> (credential: Credential, attestation: ChallengeEntry.Attestation) {
        let ak = try refusing(Refusal.init(attestation:)) { () throws(TenonError) in
            let ak = try PublicArea(dataRepresentation: akPublic)
            try ak.verifyIsAttestationKey()
            return ak
        }
        let ek = try await admit(certificates, for: app)
        let credential = try await gate.run { () throws(Refusal) in
            try refusing { () throws(TenonError) in
                let secret = try Activation.secret(
                    forChallenge: challenge, ekID: ek.id, akName: ak.name, key: keys.activation)
                return try Credential(secret, for: ek, akName: ak.name)
            }
        }
        return (credential, ChallengeEntry.Attestation(ek, ak))
    }
}

extension ChallengeEntry.Attestation {
    init(_ ek: EndorsementKey, _ ak: PublicArea) {
        self.init(
            ekID: ek.id, ekCertificate: ek.certificateDigest, akPublic: ak.dataRepresentation,
            maker: Array(ek.maker.utf8), model: Array(ek.model.utf8), version: Array(ek.version.utf8))
    }
}
