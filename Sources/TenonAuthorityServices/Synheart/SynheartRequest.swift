// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority

/// The six headers of a signed request (docs/synheart.md), each present once and well-formed.
struct SignedHeaders: Sendable {
    let appID: String
    let deviceID: String
    let signature: Signature
    /// The timestamp's text, which is signed.
    let timestampText: String
    /// Unix seconds.
    let timestamp: Int64
    let nonce: String

    /// - Parameter value: gives the value of a header.
    /// - Throws: ``Refusal/Code/invalidRequest``, which says nothing about a key: somebody who strips a header on the
    ///   way must not make a device believe that its key was refused.
    init(_ value: (String) throws(Refusal) -> String?) throws(Refusal) {
        let names = [
            "X-App-ID", "X-Device-ID", "X-Synheart-Signature", "X-Synheart-Timestamp", "X-Synheart-Nonce",
            "X-Synheart-Sig-Version",
        ]
        var values: [String] = []
        for name in names {
            guard let value = try value(name) else { throw Refusal(.invalidRequest, "The header \(name) is missing.") }
            values.append(value)
        }
        guard values[5] == "1" else { throw Refusal(.invalidRequest, "The signature's version is not 1.") }
        let signature = try refusing(Refusal.init(form:)) { () throws(TenonError) in
            let bytes = try TextEncoding.base64.decode(values[2])
            let signature = try Signature(derRepresentation: bytes)
            // The forms of the other headers.
            _ = try RequestHeaders(
                signature: signature, appID: values[0], deviceID: values[1], timestamp: values[3], nonce: values[4])
            return signature
        }
        guard let timestamp = Int64(values[3]) else { throw Refusal(.invalidRequest, "The timestamp is not a number.") }
        (appID, deviceID, nonce, timestampText) = (values[0], values[1], values[4], values[3])
        self.signature = signature
        self.timestamp = timestamp
    }
}

/// A device's request of signature version 1, as a backend describes it or as it arrived.
struct Version1Request: Sendable {
    /// The content that the signature covers.
    enum Content: Sendable {
        case body([UInt8])
        /// The SHA-256 of the whole message, from a backend that is trusted to have computed it.
        case digest(Digest)
    }

    var method: String
    /// The path as the device signs it.
    var path: String
    /// Whether the path had a query, which version 1 does not sign.
    var hasQuery: Bool
    var headers: SignedHeaders
    var content: Content

    /// Only GET and HEAD promise to change nothing, whatever the name of the method is.
    var mayChangeSomething: Bool { method != "GET" && method != "HEAD" }

    /// The request in the engine's form.
    var signed: DeviceRequest {
        DeviceRequest(
            app: headers.appID, device: headers.deviceID, signature: headers.signature, version: 1,
            timestamp: headers.timestamp, nonce: headers.nonce
        ) { () throws(Refusal) in try digest() }
    }

    /// The digest that the key signed.
    private func digest() throws(Refusal) -> Digest {
        try refusing(Refusal.init(form:)) { () throws(TenonError) in
            var message = try RequestMessage(method: method, path: path, timestamp: headers.timestampText)
            switch content {
            case .digest(let digest): return digest
            case .body(let body):
                try message.update(body.span)
                return try message.finish()
            }
        }
    }
}

/// A device's request, whose form its headers decide: a request has one version, never whichever passes.
enum SynheartRequest: Sendable {
    case version1(Version1Request)
    case version2(CoveredRequest)

    /// The version of a request with these headers.
    static func isVersion2(_ value: (String) throws(Refusal) -> String?) throws(Refusal) -> Bool {
        let isVersion2 = try value(CoveredHeaders.version) == "2"
        guard try (value(CoveredHeaders.input) != nil) == isVersion2 else {
            throw Refusal(.invalidRequest, rule: 1, "The signature's version and its headers do not belong together.")
        }
        return isVersion2
    }

    var ids: (app: String, device: String) {
        switch self {
        case .version1(let request): (request.headers.appID, request.headers.deviceID)
        case .version2(let request): (request.texts.appID, request.texts.deviceID)
        }
    }

    /// The time that is signed, as text.
    var timestampText: String {
        switch self {
        case .version1(let request): request.headers.timestampText
        case .version2(let request): String(request.signature.created)
        }
    }
}

extension SynheartSteps {
    /// `GET /v1/device/self`: says which key the authority holds, when asked with either of the two keys that a device
    /// may be unsure about (decision: own-endpoints).
    func ownState(_ request: AuthorityRequest) async throws(Refusal) -> AuthorityAnswer {
        let device = try await verify(try own(request), accepting: .presentOrPrevious).device
        return try AuthorityAnswer([
            "device_id": .string(device.id), "key_thumbprint": .string(device.thumbprint),
            "effective_at": .integer(device.keyRotatedAt ?? device.registeredAt), "status": "registered",
            "signing": try announcement(to: device, settings(of: device.app)),
        ])
    }

    /// `/v1/echo`: an example of a resource that accepts only signed requests.
    func echo(_ request: AuthorityRequest) async throws(Refusal) -> AuthorityAnswer {
        let device = try await verify(try received(request)).device
        return try AuthorityAnswer([
            "app_id": .string(device.app), "device_id": .string(device.id),
            "attestation": .string(device.level.rawValue), "method": .string(request.method),
            "path": .string(request.path), "body_bytes": .integer(Int64(request.body.count)),
        ])
    }

    /// A signed request to this authority.
    func received(_ request: AuthorityRequest) throws(Refusal) -> SynheartRequest {
        let value = { (name: String) throws(Refusal) in try request.header(name) }
        guard try SynheartRequest.isVersion2(value) else {
            return .version1(
                Version1Request(
                    method: request.method, path: request.path, hasQuery: request.query != nil,
                    headers: try SignedHeaders(value), content: .body(request.body)))
        }
        let headers = try CoveredHeaders(value)
        let (texts, signature) = try headers.read(request.method, request.target) { () throws(Refusal) in
            try authority(of: request)
        }
        return .version2(
            CoveredRequest(texts: texts, signature: signature, forms: forms(for: headers.ids.app)) {
                () throws(Refusal) in
                try refusing { () throws(TenonError) in try Digest(hashing: request.body) }
            })
    }

    /// The same for an endpoint that decides about keys: such requests are rare, so each has a signature of its own.
    func own(_ request: AuthorityRequest) throws(Refusal) -> SynheartRequest {
        let received = try received(request)
        guard case .version2(var covered) = received else { return received }
        covered.forms.removeAll { $0 == .batch }
        return .version2(covered)
    }

    /// Rule 7: the host of an origin, whatever a proxy calls it.
    private func authority(of request: AuthorityRequest) throws(Refusal) -> String {
        do throws(Refusal) {
            let origin = try engine.origin(of: request)
            return String(origin[(origin.firstRange(of: "://")?.upperBound ?? origin.startIndex)...])
        } catch {
            throw Refusal(.notAllowed, rule: 7, "The request was sent to another host.")
        }
    }

    /// The forms of version 2 that an app takes. An unknown app is refused later, by its own rule.
    func forms(for app: String) -> [RequestSigning.Form] {
        engine.configuration.app(app)?.settings(SynheartSettings.self)?.forms ?? []
    }

    func settings(of app: String) throws(Refusal) -> SynheartSettings {
        guard let settings = engine.configuration.app(app)?.settings(SynheartSettings.self) else {
            throw .unknownDevice
        }
        return settings
    }

    /// Verifies a request and remembers it, because it is valid only once.
    func verify(
        _ request: SynheartRequest, accepting accepted: AcceptedKey = .present
    ) async throws(Refusal) -> VerifiedRequest {
        let settings = try settings(of: request.ids.app)
        switch request {
        case .version2(let request): return try await engine.verify(request, accepting: accepted)
        case .version1(let request):
            guard settings.signatureVersions.contains(1) else {
                throw Refusal(.invalidRequest, "The app does not take signature version 1.")
            }
            try checkQuery(request, settings)
            return try await engine.verify(request.signed, accepting: accepted)
        }
    }

    private func checkQuery(_ request: Version1Request, _ settings: SynheartSettings) throws(Refusal) {
        let isRefused =
            switch settings.version1Query {
            case .refuse: true
            case .refuseWrites: request.mayChangeSomething
            case .allow: false
            }
        if request.hasQuery && isRefused {
            throw Refusal(
                .invalidRequest, "Version 1 does not sign the query, so a query is refused here.", cause: "query")
        }
    }
}
