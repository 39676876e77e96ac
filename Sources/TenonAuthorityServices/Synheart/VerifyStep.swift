// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority

/// The body of `POST /auth/v1/device/verify` (decision: verify-endpoint): a device's request as a backend received it.
private struct VerifyMessage {
    let requestID: String?
    let method: String
    let target: String
    let host: String?
    let headers: SignedHeaders
    let content: SynheartRequest.Content

    init(_ message: MessageObject) throws(Refusal) {
        func text(_ name: String, _ maxBytes: Int) throws(Refusal) -> String {
            try refusing(Refusal.init(form:)) { () throws(TenonError) in
                guard let text = try message.text(name, maxBytes: maxBytes) else { throw message.missing(name) }
                return text
            }
        }
        (method, target) = (try text("method", 32), try text("target", 8_192))
        let (id, host, headers, content) = try refusing(Refusal.init(form:)) { () throws(TenonError) in
            guard let headers = try message.object("headers") else { throw message.missing("headers") }
            return (
                try message.text("request_id", maxBytes: 128), try message.text("host", maxBytes: 255), headers,
                try VerifyMessage.content(message)
            )
        }
        (requestID, self.host, self.content) = (id, host, content)
        self.headers = try SignedHeaders { name throws(Refusal) in
            try refusing(Refusal.init(form:)) { () throws(TenonError) in try headers.text(name, maxBytes: 256) }
        }
    }

    /// Either the body, or the digest of the message if the backend has already hashed it.
    private static func content(_ message: MessageObject) throws(TenonError) -> SynheartRequest.Content {
        let body = try message.bytes("body", sizes: 0...32_768)
        let digest = try message.bytes("digest", sizes: 32...32)
        switch (body, digest) {
        case (let body?, nil): return .body(body)
        case (nil, let digest?): return .digest(try Digest(rawRepresentation: digest))
        case (nil, nil): throw message.missing("digest")
        default: throw message.refusal("digest", "must not come with a body")
        }
    }
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
            try await checkIsActive(message.headers)
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
    private func checkIsActive(_ headers: SignedHeaders) async throws(Refusal) {
        let device = try await waiting { () throws(TenonError) in
            try await engine.stores.devices.device(app: headers.appID, id: headers.deviceID)
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
        guard backend.apps.contains(message.headers.appID) else {
            throw Refusal(.notAllowed, "The backend is not allowed to ask about this app.")
        }
        guard backend.hosts.isEmpty || message.host.map({ backend.hosts.contains($0.lowercased()) }) == true else {
            throw Refusal(.notAllowed, "The host does not belong to the backend.")
        }
        let parts = message.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var path = String(parts[0])
        if !backend.mount.isEmpty {
            guard path.hasPrefix(backend.mount + "/") else {
                throw Refusal(.notAllowed, "The path is not below the backend's mount.")
            }
            path.removeFirst(backend.mount.count)
        }
        return SynheartRequest(
            method: message.method, path: path, hasQuery: parts.count > 1, headers: message.headers,
            content: message.content)
    }
}
