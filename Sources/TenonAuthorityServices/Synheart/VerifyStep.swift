// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority

/// The body of `POST /auth/v1/device/verify` (decision: verify-endpoint): a device's request as a backend received it.
private struct VerifyMessage {
    enum Content {
        case body([UInt8])
        /// SHA-256 of what version 1 signs.
        case digest(Digest)
        /// SHA-256 of the body, for version 2.
        case bodyDigest(Digest)
    }

    let requestID: String?
    let method: String
    let target: String
    let host: String?
    let content: Content
    private let headers: MessageObject

    init(_ message: MessageObject) throws(Refusal) {
        func text(_ name: String, _ maxBytes: Int) throws(Refusal) -> String {
            try refusing(Refusal.init(form:)) { () throws(TenonError) in
                guard let text = try message.text(name, maxBytes: maxBytes) else { throw message.missing(name) }
                return text
            }
        }
        (method, target) = (try text("method", 32), try text("target", 16_384))
        (requestID, host, headers, content) = try refusing(Refusal.init(form:)) { () throws(TenonError) in
            guard let headers = try message.object("headers") else { throw message.missing("headers") }
            return (
                try message.text("request_id", maxBytes: 128), try message.text("host", maxBytes: 255), headers,
                try VerifyMessage.content(message)
            )
        }
    }

    /// Either the body, or a digest if the backend has already hashed it.
    private static func content(_ message: MessageObject) throws(TenonError) -> Content {
        let body = try message.bytes("body", sizes: 0...32_768)
        let digest = try message.bytes("digest", sizes: 32...32)
        let bodyDigest = try message.bytes("body_sha256", sizes: 32...32)
        switch (body, digest, bodyDigest) {
        case (let body?, nil, nil): return .body(body)
        case (nil, let digest?, nil): return .digest(try Digest(rawRepresentation: digest))
        case (nil, nil, let digest?): return .bodyDigest(try Digest(rawRepresentation: digest))
        case (nil, nil, nil): throw message.missing("body")
        default: throw message.refusal("body", "and its digests exclude each other")
        }
    }

    /// The value of a header, whose name may be written in any case: a header that was not found would count as one that
    /// the request does not have.
    func header(_ name: String) throws(Refusal) -> String? {
        let names = headers.names.filter { $0.lowercased() == name.lowercased() }
        guard names.count <= 1 else { throw Refusal(.invalidRequest, "A header occurs twice in the request.") }
        guard let found = names.first else { return nil }
        return try refusing(Refusal.init(form:)) { () throws(TenonError) in
            try headers.text(found, maxBytes: VerifyMessage.maxHeader)
        }
    }

    private static let maxHeader = 1_024
}

extension SynheartSteps {
    /// Answers backends. Only status 200 means that the request is valid.
    func verify(_ request: AuthorityRequest) async throws(Refusal) -> AuthorityAnswer {
        let backend = try engine.backend(of: request)
        let message = try VerifyMessage(try request.message())
        let signed = try self.request(of: message, for: backend)
        guard let id = message.requestID else { return AuthorityAnswer(encoded: try await verdict(signed)) }
        let question = try refusing { () throws(TenonError) in try Digest(hashing: request.body) }
        if let answer = try await given(backend, id, question) {
            try await checkIsActive(signed)
            return AuthorityAnswer(encoded: answer)
        }
        do throws(Refusal) {
            let answer = try await verdict(signed)
            try await waiting { () throws(TenonError) in
                try await engine.stores.answers.keep(answer, backend: backend.name, requestID: id, request: question)
            }
            return AuthorityAnswer(encoded: answer)
        } catch {
            // If this fails, the reservation soon lapses by itself.
            try? await engine.stores.answers.abandon(backend: backend.name, requestID: id)
            throw error
        }
    }

    /// The answer that was given to the same question; nil if the caller must give the first one. When several ask at
    /// once, one of them gives the answer and the others wait for it.
    private func given(
        _ backend: BackendRecord, _ id: String, _ question: Digest
    ) async throws(Refusal) -> [UInt8]? {
        for _ in 0..<SynheartSteps.answerLooks {
            let kept = try await waiting { () throws(TenonError) in
                try await engine.stores.answers.begin(backend: backend.name, requestID: id, request: question)
            }
            switch kept {
            case .answer(let answer): return answer
            case .anotherRequest: throw Refusal(.requestIDReused, "The request id was used for another request.")
            case .none: return nil
            case .underWay: try? await Sleep.lasting(.milliseconds(10))
            }
        }
        throw Refusal(.unavailable, "The same request is being verified. Ask again.", retryAfter: 1)
    }

    private static let answerLooks = 300

    /// A repeated answer is about a device that may have been revoked since.
    private func checkIsActive(_ request: SynheartRequest) async throws(Refusal) {
        let ids = request.ids
        let device = try await waiting { () throws(TenonError) in
            try await engine.stores.devices.device(app: ids.app, id: ids.device)
        }
        guard let device else { throw .unknownDevice }
        if let refusal = Refusal(of: device) { throw refusal }
    }

    private func verdict(_ request: SynheartRequest) async throws(Refusal) -> [UInt8] {
        let device = try await verify(request).device
        return try AuthorityAnswer([
            "app_id": .string(device.app), "device_id": .string(device.id),
            "key_thumbprint": .string(device.thumbprint), "attestation": .string(device.level.rawValue),
        ]).body
    }

    /// The device's request, if it is for an app and a host that the backend may ask about.
    private func request(of message: VerifyMessage, for backend: BackendRecord) throws(Refusal) -> SynheartRequest {
        let value = { (name: String) throws(Refusal) in try message.header(name) }
        return try SynheartRequest.isVersion2(value)
            ? .version2(version2(message, try CoveredHeaders(value), backend))
            : .version1(version1(message, try SignedHeaders(value), backend))
    }

    private func version1(
        _ message: VerifyMessage, _ headers: SignedHeaders, _ backend: BackendRecord
    ) throws(Refusal) -> Version1Request {
        try checkApp(headers.appID, backend)
        guard backend.hosts.isEmpty || message.host.map({ backend.hosts.contains($0.lowercased()) }) == true else {
            throw Refusal(.notAllowed, "The host does not belong to the backend.")
        }
        try checkMount(message, backend)
        let content: Version1Request.Content =
            switch message.content {
            case .body(let body): .body(body)
            case .digest(let digest): .digest(digest)
            case .bodyDigest: throw Refusal(.invalidRequest, "Version 1 needs the body, or the digest of its message.")
            }
        let parts = message.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return Version1Request(
            method: message.method, path: String(parts[0].dropFirst(backend.mount.count)), hasQuery: parts.count > 1,
            headers: headers, content: content)
    }

    private func version2(
        _ message: VerifyMessage, _ headers: CoveredHeaders, _ backend: BackendRecord
    ) throws(Refusal) -> CoveredRequest {
        // Nothing is stripped from the path: a device signs what it sends.
        let (texts, signature) = try headers.read(message.method, message.target) { () throws(Refusal) in
            guard let host = message.host.map(SynheartSteps.withoutUsualPort), backend.hosts.contains(host) else {
                throw Refusal(.notAllowed, rule: 7, "The host does not belong to the backend.")
            }
            return host
        }
        try checkApp(texts.appID, backend)
        try checkMount(message, backend)
        let content: @Sendable () throws(Refusal) -> Digest
        switch message.content {
        case .body(let body):
            content = { () throws(Refusal) in
                try refusing { () throws(TenonError) in try Digest(hashing: body) }
            }
        case .bodyDigest(let digest): content = { () throws(Refusal) in digest }
        case .digest: throw Refusal(.invalidRequest, "Version 2 needs the body, or body_sha256.")
        }
        return CoveredRequest(texts: texts, signature: signature, forms: forms(for: texts.appID), content: content)
    }

    /// The form of a host that is signed. A client may name the port of https as well.
    private static func withoutUsualPort(_ host: String) -> String {
        let host = host.lowercased()
        return host.hasSuffix(":443") ? String(host.dropLast(4)) : host
    }

    private func checkApp(_ app: String, _ backend: BackendRecord) throws(Refusal) {
        guard backend.apps.contains(app) else {
            throw Refusal(.notAllowed, "The backend is not allowed to ask about this app.")
        }
    }

    private func checkMount(_ message: VerifyMessage, _ backend: BackendRecord) throws(Refusal) {
        guard backend.mount.isEmpty || message.target.prefix(while: { $0 != "?" }).hasPrefix(backend.mount + "/") else {
            throw Refusal(.notAllowed, "The path is not below the backend's mount.")
        }
    }
}
