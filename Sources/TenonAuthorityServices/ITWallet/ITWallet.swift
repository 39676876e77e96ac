// SPDX-License-Identifier: Apache-2.0
internal import Tenon
package import TenonAuthority

extension HostedService {
    /// The application provider of IT-Wallet (docs/it-wallet.md): instances whose hardware key is in a TPM. The mount
    /// tells apps apart, since requests do not name them.
    package static let itWallet = HostedService(
        name: "it-wallet",
        routes: [
            route("nonce", "GET", maxBody: 0) { steps throws(Refusal) in try await steps.nonce() },
            // The same call in the three published versions, which differ in path and member.
            route("application-instances", "POST") { steps throws(Refusal) in
                try await steps.initialize(evidence: ["key_attestation"])
            },
            route("instance-initialization", "POST") { steps throws(Refusal) in
                try await steps.initialize(evidence: ["key_attestation", "integrity_assertion"])
            },
            // The uses of the hardware key, each with a request of its own kind.
            route("key-binding", "POST") { steps throws(Refusal) in try await steps.bindKey() },
            route("wallet-instance-attestations", "POST") { steps throws(Refusal) in
                try await steps.attestInstance()
            },
            route("wallet-unit-attestations", "POST") { steps throws(Refusal) in try await steps.attestUnit() },
            route("key-attestation", "POST") { steps throws(Refusal) in try await steps.attestKey() },
            route("access-certificate", "POST", maxBody: 1_024) { steps throws(Refusal) in
                try await steps.accessCertificate()
            },
            route("jwks", "GET") { steps throws(Refusal) in try steps.publishedKeys() },
            route("wallet-instances/{tag}", "GET") { steps throws(Refusal) in try await steps.ownState() },
            route("wallet-instances", "GET", at: .internal) { steps throws(Refusal) in try await steps.list() },
            route("wallet-instances/{tag}", "GET", at: .internal) { steps throws(Refusal) in
                try await steps.state()
            },
            route("wallet-instances/{tag}", "PATCH", at: .internal, maxBody: 1_024) { steps throws(Refusal) in
                try await steps.revoke()
            },
            route("wallet-instances/{tag}/account", "PUT", at: .internal, maxBody: 1_024) { steps throws(Refusal) in
                try await steps.link()
            },
        ],
        settings: { section, app throws(TenonError) in try ITWalletSettings(&section, app) },
        tables: [Instances.table],
        refusal: ITWalletSteps.answer(refusing:at:))

    private static func route(
        _ path: String, _ method: String, at door: AuthorityRequest.Door = .public, maxBody: Int? = nil,
        _ step: @escaping @Sendable (ITWalletSteps) async throws(Refusal) -> AuthorityAnswer
    ) -> ServiceRoute {
        ServiceRoute("/it-wallet/{app}/" + path, method, at: [door], maxBody: maxBody) { call throws(Refusal) in
            try await step(ITWalletSteps(call))
        }
    }
}

/// The steps of the routes.
struct ITWalletSteps {
    let engine: AuthorityEngine
    let request: AuthorityRequest
    let app: AppRecord
    let settings: ITWalletSettings
    private let parameter: String?

    init(_ call: ServiceCall) throws(Refusal) {
        guard let app = call.app, let settings = app.settings(ITWalletSettings.self) else { throw .unknownApp }
        (engine, request, parameter) = (call.engine, call.request, call.parameter)
        (self.app, self.settings) = (try call.engine.app(app.id), settings)
    }

    /// The instance that the path names.
    var tag: InstanceTag {
        get throws(Refusal) {
            guard let tag = try? InstanceTag(parameter ?? "") else { throw .unknownInstance }
            return tag
        }
    }

    /// The body: a JSON object that has these members and no other.
    func message(_ members: String...) throws(Refusal) -> MessageObject {
        let message = try request.message()
        try refusing(Refusal.init(form:)) { () throws(TenonError) in try message.allow(only: members) }
        return message
    }

    func nonce() async throws(Refusal) -> AuthorityAnswer {
        let issued = try await engine.issueChallenge(to: app, by: request, dialect: "it-wallet")
        return try AuthorityAnswer(["nonce": .string(issued.text)])
    }
}

extension AuthorityAnswer {
    /// 204: done, and there is nothing to say.
    static let done = AuthorityAnswer(status: 204, headers: [("Cache-Control", "no-store")])
}
