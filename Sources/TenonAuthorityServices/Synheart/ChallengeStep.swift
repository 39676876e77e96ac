// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority

/// The body of `POST /v1/device/challenge`.
private struct ChallengeMessage {
    let appID: String
    /// Members of the dialect `tenon`. Older devices do not name the parent of the key that they are going to register.
    let offer: EndorsementOffer?

    init(_ message: MessageObject) throws(TenonError) {
        guard let appID = try message.text("app_id", maxBytes: 200) else { throw message.missing("app_id") }
        self.appID = appID
        let certificates = try message.certificates("ek_certificates")
        let ak = try message.bytes("ak_public", sizes: 1...1_024)
        let parent = try message.bytes("parent_name", sizes: KeyParent.nameSize...KeyParent.nameSize)
        switch (certificates, ak) {
        case (nil, nil): offer = nil
        case (let certificates?, let ak?):
            offer = EndorsementOffer(certificates: certificates, akPublic: ak, parent: parent)
        case (_, nil): throw message.missing("ak_public")
        case (nil, _): throw message.missing("ek_certificates")
        }
    }
}

extension SynheartSteps {
    /// The cheapest checks come first (decision: folded-activation).
    func challenge(_ request: AuthorityRequest) async throws(Refusal) -> AuthorityAnswer {
        let object = try request.message()
        let message = try refusing(Refusal.init(form:)) { () throws(TenonError) in try ChallengeMessage(object) }
        let (app, settings) = try app(message.appID)
        let dialect = message.offer == nil ? SynheartSettings.Dialect.docs : .tenon
        guard settings.dialects.contains(dialect) else {
            throw Refusal(.invalidRequest, "The app does not accept the dialect \(dialect.rawValue).")
        }
        let issued = try await engine.issueChallenge(
            to: app, by: request, dialect: dialect.rawValue, offer: message.offer)
        let activation = issued.credential.map { credential -> JSON in
            ["credential": .bytes(credential.idObject), "secret": .bytes(credential.encryptedSecret)]
        }
        return try AuthorityAnswer([
            "challenge": .string(issued.text), "ttl_seconds": .integer(AuthorityEngine.challengeLife),
            "expires_at": .string(CivilDate.iso8601(issued.expiresAt)), "activation": activation,
        ])
    }
}
