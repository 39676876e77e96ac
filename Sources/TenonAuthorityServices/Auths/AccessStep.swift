// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority

extension AuthsSteps {
    /// Seconds for which a nonce can be presented.
    private static let nonceLife: Int64 = 120

    /// `GET /v1/auth/challenge`: a nonce for one presentation.
    func challenge(_ request: AuthorityRequest) async throws(Refusal) -> AuthorityAnswer {
        let (nonce, end) = try await engine.issueNonce(to: app, by: request, life: AuthsSteps.nonceLife)
        return try AuthorityAnswer([
            "nonce": .string(TextEncoding.base64url.encode(nonce)), "not_after": .string(CivilDate.iso8601(end)),
        ])
    }

    /// `POST /api`: an example of a resource that only identities may use.
    func access(_ request: AuthorityRequest) async throws(Refusal) -> AuthorityAnswer {
        if let header = try request.header("Authorization") { return try await present(header, request) }
        guard !request.body.isEmpty else { throw Refusal(.invalidSignature, "The request is not authenticated.") }
        let message = try refusing(Refusal.init(form:)) { () throws(TenonError) in
            try JSON(parsing: request.body, maxBytes: request.body.count)
        }
        guard let object = message.object else { throw .malformed("message") }
        if object["version"] != nil { return try await act(ActionEnvelope(object)) }
        return try await acceptBare(BareSignature(object))
    }

    private func act(_ envelope: ActionEnvelope) async throws(Refusal) -> AuthorityAnswer {
        let device = try await verify(
            envelope.identity, envelope.signature, at: envelope.timestamp, envelope.signedBytes)
        return try answer(device, ["type": .string(envelope.type)])
    }

    /// Takes the nonce before it verifies the signature: only the client that asked for a nonce can use it up.
    private func present(_ header: String, _ request: AuthorityRequest) async throws(Refusal) -> AuthorityAnswer {
        let presentation = try Presentation(header)
        let audience = if let own = settings.audience { own } else { try engine.origin(of: request) }
        guard presentation.audience == audience else {
            throw Refusal(.invalidSignature, "The presentation is for another audience.", cause: "audience")
        }
        guard try await engine.takeNonce(presentation.nonce, for: app, by: request) else {
            throw Refusal(.unknownNonce, "The nonce was used or has expired. Ask for another.")
        }
        let device = try await verify(
            presentation.identity, presentation.signature, at: now.seconds, presentation.signedBytes)
        return try answer(device, ["credential": .string(presentation.credential)])
    }

    private func acceptBare(_ message: BareSignature) async throws(Refusal) -> AuthorityAnswer {
        guard settings.acceptsBareSignatures else {
            throw Refusal(
                .notAllowed, "Anybody could send this again. Send an action envelope or a presentation.",
                cause: "bare_signature")
        }
        let device = try await verify(message.identity, message.signature, at: now.seconds, message.data)
        return try answer(device, [:])
    }

    /// The engine verifies it like each other signed request: state, time, current key, and that key and r are new.
    private func verify(
        _ prefix: String, _ signature: Signature, at seconds: Int64, _ bytes: [UInt8]
    ) async throws(Refusal) -> Device {
        let nonce = try refusing { () throws(TenonError) in try RequestHeaders.makeNonce() }
        let request = DeviceRequest(
            app: app.id, device: prefix, signature: signature, version: 1, timestamp: seconds, nonce: nonce
        ) { () throws(Refusal) in
            try refusing { () throws(TenonError) in try Digest(hashing: bytes) }
        }
        return try await engine.verify(request).device
    }

    private func answer(
        _ device: Device, _ more: KeyValuePairs<String, JSON>
    ) throws(Refusal) -> AuthorityAnswer {
        var object = JSONObject()
        for (name, value) in more { object[name] = value }
        object["identity"] = .string(KeyEventLog.didPrefix + device.id)
        object["status"] = "accepted"
        let members = object
        return AuthorityAnswer(encoded: try refusing { () throws(TenonError) in try JSON.object(members).encoded() })
    }
}
