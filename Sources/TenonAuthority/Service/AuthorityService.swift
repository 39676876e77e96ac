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
    /// EK certificates, and those above them, that their issuers took back.
    let revoked: RevokedCertificates
    /// The last head of the audit log that was signed.
    let auditHead: @Sendable () -> AuditHead?
    let rates = RequestRates()
    let endorsements = EndorsementCache()
    let gate: ActivationGate
    /// Signs certificates: a key that a TPM holds takes its time.
    let issuing = WorkThread()
    let metrics = AuthorityMetrics()
    let refusals: RefusalLog

    /// Seconds for which a challenge is good (docs/synheart.md), and a secret of the attestation CA.
    static let challengeLife: Int64 = 90
    /// Seconds for which an AK certificate is good.
    static let certificateLife: Int64 = 90 * 86_400

    /// - Parameters:
    ///   - ekRoots: by app id, what was read from the paths of its record.
    ///   - refused: takes a line for an operator, of why a request was refused; on a thread of its own.
    package init(
        configuration: Configuration, stores: AuthorityStores, keys: AuthorityKeys, clock: any AuthorityClock,
        ekRoots: [String: [EndorsementRoots]], revoked: RevokedCertificates = RevokedCertificates(),
        auditHead: @escaping @Sendable () -> AuditHead? = { nil }, refused: (@Sendable (String) -> Void)? = nil
    ) {
        self.configuration = configuration
        self.stores = stores
        self.keys = keys
        self.clock = clock
        self.ekRoots = ekRoots
        self.revoked = revoked
        self.auditHead = auditHead
        refusals = RefusalLog(refused)
        gate = ActivationGate(capacity: configuration.limits.activations)
    }

    /// Answers a request; whatever goes wrong is an answer, too.
    package func answer(_ request: AuthorityRequest, at door: AuthorityRequest.Door) async -> AuthorityAnswer {
        let (endpoint, app) = endpoint(request.path, at: door)
        do throws(Refusal) {
            let answer = try await success(request, endpoint, app, at: door)
            metrics.count(endpoint, nil)
            return answer
        } catch {
            metrics.count(endpoint, error)
            let now = clock.now()
            // Who asks how it is, is no device, and asks often; the fault has its own line.
            if let endpoint, door != .admin, endpoint != .health {
                refusals.tell(error, endpoint, from: request.peer, at: now) { app?.id ?? appNamed(in: request) }
            }
            return AuthorityAnswer(error, at: now)
        }
    }

    private func success(
        _ request: AuthorityRequest, _ endpoint: Endpoint?, _ app: AppRecord?, at door: AuthorityRequest.Door
    ) async throws(Refusal) -> AuthorityAnswer {
        guard request.body.count <= configuration.limits.bodyBytes else {
            throw Refusal(.invalidRequest, "The body is too large.", status: 413)
        }
        if endpoint == .health { return try health() }
        if door == .public {
            try rates.count(
                RequestRates.name(ofAddress: request.peer), limit: configuration.limits.perAddressPerMinute,
                at: clock.now())
        }
        guard let endpoint else { throw Refusal(.notFound, "There is nothing here.") }
        if let method = endpoint.method, request.method != method {
            throw Refusal(.methodNotAllowed, "The method is not \(method).")
        }
        return try await answer(request, endpoint, app)
    }

    private func answer(
        _ request: AuthorityRequest, _ endpoint: Endpoint, _ app: AppRecord?
    ) async throws(Refusal) -> AuthorityAnswer {
        switch endpoint {
        case .health: try health()
        case .challenge: try await challenge(request)
        case .register: try await register(request)
        case .rotateKey: try await rotateKey(request)
        case .ownState: try await ownState(request)
        case .echo: try await echo(request)
        case .attest: try await attest(request, app)
        case .secret: try await secret(request, app)
        case .verify: try await verify(request)
        case .devices: try await devices(request)
        case .revoke: try await revoke(request)
        case .allow: try await allow(request)
        case .decide: try await decide(request)
        case .authorities: try authorities()
        case .state: try state()
        case .metrics:
            AuthorityAnswer(
                status: 200, headers: [("Content-Type", "text/plain; version=0.0.4")], body: Array(metricsText.utf8))
        }
    }

    private func endpoint(_ path: String, at door: AuthorityRequest.Door) -> (Endpoint?, AppRecord?) {
        if let found = Endpoint(path: path, at: door) { return (found, nil) }
        guard door == .public else { return (nil, nil) }
        for found in [Endpoint.attest, .secret] {
            if let app = attestationCA(path, "/" + found.label) { return (found, app) }
        }
        return (nil, nil)
    }

    /// The app of an attestation CA's path: `/ca/APP/attest`, or `/attest` where there is one app only.
    private func attestationCA(_ path: String, _ step: String) -> AppRecord? {
        let path = path.hasPrefix("/auth/") ? path.dropFirst(5) : path[...]
        if path == step { return configuration.apps.count == 1 ? configuration.apps[0] : nil }
        return configuration.apps.first { path == "/ca/\($0.id)\(step)" }
    }

    /// An app that asks, if it is one of ours and has not asked too often.
    func app(_ id: String) throws(Refusal) -> AppRecord {
        guard let app = configuration.app(id) else { throw Refusal(.unknownApp, "The app is not known here.") }
        try rates.count("app " + id, limit: configuration.limits.perAppPerMinute, at: clock.now())
        return app
    }

    /// The app that a request is about, if it is one of ours: for a line that somebody reads.
    private func appNamed(in request: AuthorityRequest) -> String? {
        let message = try? JSON(parsing: request.body)
        let told = message?["app_id"] ?? message?["headers"]?["X-App-ID"]
        let name = (try? request.header("X-App-ID")) ?? told?.string
        return name.flatMap(configuration.app)?.id
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
    func message() throws(Refusal) -> MessageObject {
        try refusing(Refusal.init(form:)) { () throws(TenonError) in
            try MessageObject(parsing: body, maxBytes: body.count)
        }
    }
}
