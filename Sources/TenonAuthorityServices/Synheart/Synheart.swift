// SPDX-License-Identifier: Apache-2.0
internal import Tenon
package import TenonAuthority

extension HostedService {
    /// Synheart's auth service (docs/synheart.md): JSON, an app that each request names, and six headers that carry the
    /// signature.
    package static let synheart = HostedService(
        name: "synheart",
        // A base URL may or may not end with the prefix. A device signs the path as it is sent.
        prefix: "/auth",
        routes: [
            route("/v1/device/challenge", "POST") { steps, request throws(Refusal) in
                try await steps.challenge(request)
            },
            route("/v1/device/register", "POST") { steps, request throws(Refusal) in
                try await steps.register(request)
            },
            route("/v1/device/rotate-key", "POST") { steps, request throws(Refusal) in
                try await steps.rotateKey(request)
            },
            route("/v1/device/self", "GET") { steps, request throws(Refusal) in
                try await steps.ownState(request)
            },
            route("/v1/echo", nil) { steps, request throws(Refusal) in try await steps.echo(request) },
            route("/v1/device/verify", "POST", at: .internal) { steps, request throws(Refusal) in
                try await steps.verify(request)
            },
        ],
        settings: { section, app throws(TenonError) in try SynheartSettings(&section, app) },
        exampleSettings: [("dialects", ["tenon"])],
        appNamed: SynheartSteps.appNamed(in:),
        refusal: SynheartSteps.answer(refusing:at:))

    private static func route(
        _ path: String, _ method: String?, at door: AuthorityRequest.Door = .public,
        _ step: @escaping @Sendable (SynheartSteps, AuthorityRequest) async throws(Refusal) -> AuthorityAnswer
    ) -> ServiceRoute {
        ServiceRoute(path, method, at: [door]) { call throws(Refusal) in
            try await step(SynheartSteps(engine: call.engine), call.request)
        }
    }
}

/// The steps of the routes.
struct SynheartSteps {
    let engine: AuthorityEngine

    /// The app of this service that a request names, if it has not asked too often.
    func app(_ id: String) throws(Refusal) -> (record: AppRecord, settings: SynheartSettings) {
        guard let settings = engine.configuration.app(id)?.settings(SynheartSettings.self) else { throw .unknownApp }
        return (try engine.app(id), settings)
    }

    /// The app id that a request claims in its body, in its headers, or in the headers that a backend passes on.
    static func appNamed(in request: AuthorityRequest) -> String? {
        let message = try? JSON(parsing: request.body)
        let told = message?["app_id"] ?? message?["headers"]?["X-App-ID"]
        return (try? request.header("X-App-ID")) ?? told?.string
    }

    /// The body of a refusal: the code, a sentence, and the time, by which a device may correct its clock.
    static func answer(refusing refusal: Refusal, at now: AuthorityInstant) -> AuthorityAnswer {
        var answer = AuthorityAnswer(refusal, at: now)
        answer.headers.append(("x-synheart-error", refusal.code.rawValue))
        return answer
    }
}

extension Refusal.Code {
    /// The codes that this service adds to those of the engine.
    package static let synheart = [requestIDReused]

    static let requestIDReused = Refusal.Code("REQUEST_ID_REUSED", status: 409)
}

extension PublicKey {
    /// A key as it is sent: base64 of its SubjectPublicKeyInfo, so each key has only one text.
    init(sent text: String) throws(Refusal) {
        self = try refusing(Refusal.init(form:)) { () throws(TenonError) in
            let bytes = try TextEncoding.base64.decode(text)
            return try PublicKey(derRepresentation: bytes)
        }
    }

    /// The text of the key.
    var sentText: String { TextEncoding.base64.encode(derRepresentation) }
}
