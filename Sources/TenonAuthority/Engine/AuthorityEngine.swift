// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// An authority as a function from requests to answers, without sockets. The configuration names its services. The
/// engine does what they share: routes, rates, challenges, devices, operators.
///
/// ```swift
/// let answer = await engine.answer(request, at: .public)
/// ```
///
/// It keeps everything in its stores, so instances with the same stores and keys share the work.
package struct AuthorityEngine: Sendable {
    package let configuration: Configuration
    package let stores: AuthorityStores
    package let keys: AuthorityKeys
    package let clock: any AuthorityClock
    private let table: RouteTable
    /// The roots of EK certificates, by app id.
    let ekRoots: [String: [EndorsementRoots]]
    /// The EK certificates, and certificates above them, that their issuers have revoked.
    let revoked: RevokedCertificates
    /// The last head of the audit log that was signed.
    let auditHead: @Sendable () -> AuditHead?
    let rates = RequestRates()
    /// The same within a second, for devices.
    let secondRates = RequestRates(window: 1_000)
    /// The batches whose signatures were verified.
    let roots = KnownRoots()
    let endorsements = EndorsementCache()
    package let gate: ActivationGate
    /// The thread that signs certificates, because a key in a TPM is slow.
    let issuing = WorkThread()
    let metrics = AuthorityMetrics()
    let refusals: RefusalLog

    /// Seconds for which a challenge, or a secret of the attestation CA, is valid.
    package static let challengeLife: Int64 = 90
    /// Seconds for which an AK certificate is valid.
    static let certificateLife: Int64 = 90 * 86_400

    /// - Parameters:
    ///   - ekRoots: by app id, the roots that were read from the paths of its record.
    ///   - refused: takes a line for an operator that says why a request was refused; called on a thread of its own.
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
        table = RouteTable(AuthorityEngine.routes, configuration)
        refusals = RefusalLog(refused)
        gate = ActivationGate(capacity: configuration.limits.activations)
    }

    /// Answers a request; every error becomes an answer, too.
    package func answer(_ request: AuthorityRequest, at door: AuthorityRequest.Door) async -> AuthorityAnswer {
        let found = table.find(request.path, request.method, at: door)
        let label = found?.entry.route.label
        do throws(Refusal) {
            let answer = try await success(request, found, at: door)
            metrics.count(label, nil)
            return answer
        } catch {
            metrics.count(label, error)
            let now = clock.now()
            let isOperator = door == .admin || door == .metrics
            let service = isOperator ? nil : table.service(for: found, request.path)
            // A request for health does not come from a device, and comes often; the fault has its own line.
            if let label, door != .admin, !isProbe(found) {
                refusals.tell(error, label, from: request.peer, at: now) {
                    found?.app?.id ?? service?.appNamed(request).flatMap(configuration.app)?.id
                }
            }
            return service?.refusal(error, now) ?? AuthorityAnswer(error, at: now)
        }
    }

    private func success(
        _ request: AuthorityRequest, _ found: RouteTable.Match?, at door: AuthorityRequest.Door
    ) async throws(Refusal) -> AuthorityAnswer {
        guard request.body.count <= found?.entry.route.maxBody ?? configuration.limits.bodyBytes else {
            throw Refusal(.invalidRequest, "The body is too large.", status: 413)
        }
        if door == .public && !isProbe(found) {
            try rates.count(
                RequestRates.name(ofAddress: request.peer), limit: configuration.limits.perAddressPerMinute,
                at: clock.now())
        }
        guard let found else { throw Refusal(.notFound, "This path does not exist.") }
        if let method = found.entry.route.method, request.method != method {
            throw Refusal(.methodNotAllowed, "The method must be \(method).")
        }
        return try await found.entry.route.step(
            ServiceCall(engine: self, request: request, app: found.app, parameter: found.parameter))
    }

    private func isProbe(_ found: RouteTable.Match?) -> Bool { found?.entry.route.path == AuthorityEngine.healthPath }

    /// The app that sends the request, if it is configured and has not sent too many.
    package func app(_ id: String) throws(Refusal) -> AppRecord {
        guard let app = configuration.app(id) else { throw .unknownApp }
        try rates.count("app " + id, limit: configuration.limits.perAppPerMinute, at: clock.now())
        return app
    }

    /// The backend that owns the token. Tokens are found by their SHA-256, so no comparison reveals anything about a
    /// token.
    package func backend(of request: AuthorityRequest) throws(Refusal) -> BackendRecord {
        let words = (try request.header("Authorization") ?? "").split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, words[0].lowercased() == "bearer" else { throw .unknownBackend }
        let digest = try digest(of: String(words[1]))
        guard let backend = configuration.backends.first(where: { $0.tokenDigest == digest }) else {
            throw .unknownBackend
        }
        return backend
    }

    /// The configured origin at which a request arrived. An unknown host is refused if there are several origins.
    package func origin(of request: AuthorityRequest) throws(Refusal) -> String {
        let host = try request.header("Host")?.lowercased()
        let origins = configuration.origins
        if let named = origins.first(where: { $0.split(separator: "/").last.map(String.init) == host }) { return named }
        // If there is only one origin, a proxy may use another name for it.
        guard origins.count == 1 else { throw Refusal(.invalidRequest, "This host is not served here.", status: 421) }
        return origins[0]
    }
}

// The routes that every authority has.
extension AuthorityEngine {
    fileprivate static let healthPath = "/health"

    static let routes = [
        ServiceRoute(healthPath, nil, at: [.public, .internal]) { call throws(Refusal) in try call.engine.health() },
        ServiceRoute("/ca/{app}/attest", "POST") { call throws(Refusal) in
            try await call.engine.attest(call.request, for: call.app)
        },
        ServiceRoute("/ca/{app}/secret", "POST") { call throws(Refusal) in
            try await call.engine.secret(call.request, for: call.app)
        },
        ServiceRoute("/v1/devices", "GET", at: [.admin]) { call throws(Refusal) in
            try await call.engine.devices(call.request)
        },
        ServiceRoute("/v1/revoke", "POST", at: [.admin]) { call throws(Refusal) in
            try await call.engine.revoke(call.request)
        },
        ServiceRoute("/v1/allow", "POST", at: [.admin]) { call throws(Refusal) in
            try await call.engine.allow(call.request)
        },
        ServiceRoute("/v1/decide", "POST", at: [.admin]) { call throws(Refusal) in
            try await call.engine.decide(call.request)
        },
        ServiceRoute("/v1/ca", "GET", at: [.admin]) { call throws(Refusal) in try call.engine.authorities() },
        ServiceRoute("/v1/health", "GET", at: [.admin]) { call throws(Refusal) in try call.engine.state() },
        ServiceRoute("/metrics", "GET", at: [.admin, .metrics]) { call throws(Refusal) in
            AuthorityAnswer(
                status: 200, headers: [("Content-Type", "text/plain; version=0.0.4")],
                body: Array(call.engine.metricsText.utf8))
        },
    ]
}
