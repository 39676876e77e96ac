// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// The auth service as a function from requests to answers, without sockets.
///
/// ```swift
/// let answer = await service.answer(request, at: .public)
/// ```
///
/// It keeps nothing but in its stores, so that instances with the same stores and keys share the work.
package struct AuthorityService: Sendable {
    package let configuration: Configuration
    package let stores: AuthorityStores
    package let keys: AuthorityKeys
    let clock: any AuthorityClock
    /// By app.
    let ekRoots: [String: [EndorsementRoots]]
    let rates = RequestRates()
    let endorsements = EndorsementCache()
    let gate: ActivationGate
    let metrics = AuthorityMetrics()

    /// Seconds for which a challenge is good (synheart.md 1.2), and a secret of the attestation CA.
    static let challengeLife: Int64 = 90
    /// Seconds for which an AK certificate is good.
    static let certificateLife: Int64 = 90 * 86_400

    /// - Parameter ekRoots: by app id, what was read from the paths of its record.
    package init(
        configuration: Configuration, stores: AuthorityStores, keys: AuthorityKeys, clock: any AuthorityClock,
        ekRoots: [String: [EndorsementRoots]]
    ) {
        self.configuration = configuration
        self.stores = stores
        self.keys = keys
        self.clock = clock
        self.ekRoots = ekRoots
        gate = ActivationGate(capacity: configuration.limits.activations)
    }

    /// Answers a request; whatever goes wrong is an answer, too.
    package func answer(_ request: AuthorityRequest, at door: AuthorityRequest.Door) async -> AuthorityAnswer {
        do throws(Refusal) {
            let answer = try await success(request, at: door)
            metrics.count(request.path, nil)
            return answer
        } catch {
            metrics.count(request.path, error.code)
            return AuthorityAnswer(error, at: clock.now())
        }
    }

    private func success(
        _ request: AuthorityRequest, at door: AuthorityRequest.Door
    ) async throws(Refusal) -> AuthorityAnswer {
        guard request.body.count <= configuration.limits.bodyBytes else {
            throw Refusal(.invalidRequest, "The body is too large.", status: 413)
        }
        switch door {
        case .public: return try await publicAnswer(request)
        case .internal: return try await internalAnswer(request)
        case .admin: return try await adminAnswer(request)
        }
    }

    private func publicAnswer(_ request: AuthorityRequest) async throws(Refusal) -> AuthorityAnswer {
        if request.path == "/health" { return AuthorityAnswer(status: 200, body: Array("ok".utf8)) }
        try rates.count(
            RequestRates.name(ofAddress: request.peer), limit: configuration.limits.perAddressPerMinute, at: clock.now()
        )
        // Base URLs end with /auth or not (synheart.md 1.1); what a device signs is the path as it is sent.
        let path = request.path.hasPrefix("/auth/") ? String(request.path.dropFirst(5)) : request.path
        switch path {
        case "/v1/device/challenge": return try await challenge(try request.posted())
        case "/v1/device/register": return try await register(try request.posted())
        case "/v1/device/rotate-key": return try await rotateKey(try request.posted())
        case "/v1/device/self": return try await ownState(try request.asking("GET"))
        case "/v1/echo": return try await echo(request)
        default: break
        }
        if let app = attestationCA(path, "/attest") { return try await attest(try request.posted(), app) }
        if let app = attestationCA(path, "/secret") { return try await secret(try request.posted(), app) }
        throw Refusal(.notFound, "There is nothing here.")
    }

    private func internalAnswer(_ request: AuthorityRequest) async throws(Refusal) -> AuthorityAnswer {
        switch request.path {
        case "/health": return AuthorityAnswer(status: 200, body: Array("ok".utf8))
        case "/auth/v1/device/verify", "/v1/device/verify": return try await verify(try request.posted())
        default: throw Refusal(.notFound, "There is nothing here.")
        }
    }

    /// The app of an attestation CA's path: `/ca/APP/attest`, or `/attest` where there is one app only.
    private func attestationCA(_ path: String, _ step: String) -> AppRecord? {
        if path == step { return configuration.apps.count == 1 ? configuration.apps[0] : nil }
        return configuration.apps.first { path == "/ca/\($0.id)\(step)" }
    }

    /// An app that asks, if it is one of ours and has not asked too often.
    func app(_ id: String) throws(Refusal) -> AppRecord {
        guard let app = configuration.app(id) else { throw Refusal(.unknownApp, "The app is not known here.") }
        try rates.count("app " + id, limit: configuration.limits.perAppPerMinute, at: clock.now())
        return app
    }

    /// Our own origin by which a request came; none that the request makes up is taken.
    func origin(of request: AuthorityRequest) throws(Refusal) -> String {
        let host = try request.header("Host")?.lowercased()
        let origins = configuration.origins
        if let named = origins.first(where: { $0.split(separator: "/").last.map(String.init) == host }) { return named }
        // Where there is one, a proxy may have another name for it.
        guard origins.count == 1 else { throw Refusal(.invalidRequest, "The host is not served here.", status: 421) }
        return origins[0]
    }
}

extension AuthorityRequest {
    func asking(_ method: String) throws(Refusal) -> AuthorityRequest {
        guard self.method == method else { throw Refusal(.methodNotAllowed, "The method is not \(method).") }
        return self
    }

    func posted() throws(Refusal) -> AuthorityRequest { try asking("POST") }

    func message() throws(Refusal) -> MessageObject {
        try refusing(Refusal.init(form:)) { () throws(TenonError) in
            try MessageObject(parsing: body, maxBytes: body.count)
        }
    }
}
