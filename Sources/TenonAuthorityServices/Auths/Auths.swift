// SPDX-License-Identifier: Apache-2.0
internal import Tenon
package import TenonAuthority

extension HostedService {
    /// Auths (docs/auths.md): identifiers of KERI, which prove themselves by their logs. The path tells apps apart.
    package static let auths = HostedService(
        name: "auths",
        routes: [
            route("register", "POST", maxBody: largest) { steps, call throws(Refusal) in
                try await steps.register(call.request)
            },
            route("v1/identities/{prefix}/kel", "POST", maxBody: largest) { steps, call throws(Refusal) in
                try await steps.append(call.request, to: call.parameter ?? "")
            },
            route("v1/identities/{prefix}/kel", "GET") { steps, call throws(Refusal) in
                try await steps.events(call.request, of: call.parameter ?? "")
            },
            route("v1/identities/{prefix}/conflicts", "GET", at: .admin) { steps, call throws(Refusal) in
                try await steps.conflicts(of: call.parameter ?? "")
            },
            route("v1/auth/challenge", "GET") { steps, call throws(Refusal) in
                try await steps.challenge(call.request)
            },
            route("api", "POST") { steps, call throws(Refusal) in try await steps.access(call.request) },
        ],
        settings: { section, app throws(TenonError) in try AuthsSettings(&section, app) },
        exampleSettings: [],
        tables: AuthsTables.versions,
        refusal: AuthsSteps.answer(refusing:at:))

    /// The most bytes of a message with events.
    private static let largest = 1 << 20

    private static func route(
        _ path: String, _ method: String, at door: AuthorityRequest.Door = .public, maxBody: Int? = nil,
        _ step: @escaping @Sendable (AuthsSteps, ServiceCall) async throws(Refusal) -> AuthorityAnswer
    ) -> ServiceRoute {
        ServiceRoute("/auths/{app}/" + path, method, at: [door], maxBody: maxBody) { call throws(Refusal) in
            try await step(AuthsSteps(call), call)
        }
    }
}

/// The steps of the routes, for one app.
struct AuthsSteps {
    let engine: AuthorityEngine
    let app: AppRecord
    let settings: AuthsSettings

    init(_ call: ServiceCall) throws(Refusal) {
        guard let app = call.app, let settings = app.settings(AuthsSettings.self) else { throw .unknownApp }
        (engine, self.app, self.settings) = (call.engine, try call.engine.app(app.id), settings)
    }

    var now: AuthorityInstant { engine.clock.now() }

    /// The identity, which is a device under its identifier, if its messages are accepted.
    func identity(_ prefix: String) async throws(Refusal) -> Device {
        let device = try await waiting { () throws(TenonError) in
            try await engine.stores.devices.device(app: app.id, id: prefix)
        }
        guard let device else { throw Refusal(.unknownIdentity, "The identity is not registered.") }
        if let refusal = Refusal(of: device) { throw refusal }
        return device
    }

    /// `{"error", "code"}`; for an inception exactly what the service's documents say.
    static func answer(refusing refusal: Refusal, at now: AuthorityInstant) -> AuthorityAnswer {
        var members: JSON = ["error": .string(refusal.message), "code": .string(refusal.code.rawValue)]
        if refusal.code == .invalidInception { members = ["error": .string(refusal.message)] }
        // This service has no 409 for a message that was used before: it does not authenticate anybody.
        let status = refusal.code == .nonceReplay ? 401 : refusal.status
        var answer = AuthorityAnswer(encoded: (try? members.encoded()) ?? [], status: status)
        // Every HTTP client knows this scheme; the documents of the service name it, too.
        if status == 401 { answer.headers.append(("WWW-Authenticate", "Bearer")) }
        if let seconds = refusal.retryAfter { answer.headers.append(("Retry-After", String(seconds))) }
        return answer
    }
}

extension Refusal.Code {
    /// The codes that this service adds to those of the engine.
    package static let auths = [
        invalidInception, invalidEvent, unknownIdentity, sequenceTaken, sequenceGap, keyInUse, unknownNonce,
    ]

    static let invalidInception = Refusal.Code("INVALID_INCEPTION", status: 400)
    static let invalidEvent = Refusal.Code("INVALID_EVENT", status: 400)
    static let unknownIdentity = Refusal.Code("UNKNOWN_IDENTITY", status: 404)
    static let sequenceTaken = Refusal.Code("SEQUENCE_TAKEN", status: 409)
    static let sequenceGap = Refusal.Code("SEQUENCE_GAP", status: 409)
    static let keyInUse = Refusal.Code("KEY_IN_USE", status: 409)
    static let unknownNonce = Refusal.Code("UNKNOWN_NONCE", status: 401)
}
