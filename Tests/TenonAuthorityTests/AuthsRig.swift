// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Tenon
import TenonAuthority
import TenonAuthorityAuths
import TenonAuthoritySynheart
import Testing

/// An authority with two apps of Auths, `kel` and `second`, and one of another service.
struct AuthsRig: Given {
    @TaskLocal static var held: AuthsRig?
    static var given: TaskLocal<AuthsRig?> { $held }

    let engine: AuthorityEngine
    let stores: AuthorityStores
    let clock: FakeClock

    static let services: [HostedService] = [.synheart, .auths]
    static let origin = "http://127.0.0.1:8420"

    static func configuration(_ more: String = "", origins: String = "") throws -> Configuration {
        let text = """
            {"origins": ["\(origin)"\(origins)], "limits": {"per_address_per_minute": 1000000},
             "apps": [{"id": "kel", "service": "auths", "require_attestation": false\(more)},
                      {"id": "second", "service": "auths", "require_attestation": false},
                      {"id": "open", "require_attestation": false}]}
            """
        return try Configuration(parsing: Array(text.utf8), services: services)
    }

    /// Runs a test on an authority of its own, on each kind of stores.
    ///
    /// - Parameters:
    ///   - more: members of the app `kel`.
    ///   - origins: more origins, each behind a comma.
    static func with(
        _ more: String = "", origins: String = "", on kinds: [StoreKind] = StoreKind.allCases,
        _ body: (AuthsRig) async throws -> Void
    ) async throws {
        try await ServiceRig.with(configuration(more, origins: origins), services: services, on: kinds) { rig in
            try await body(AuthsRig(engine: rig.service, stores: rig.stores, clock: rig.clock))
        }
    }

    static func on(_ kind: StoreKind, _ body: (AuthsRig) async throws -> Void) async throws {
        try await with(on: [kind], body)
    }

    var seconds: Int64 { clock.now().seconds }

    func ask(
        _ method: String, _ target: String, _ body: [UInt8] = [], at door: AuthorityRequest.Door = .public,
        headers: [(name: String, value: String)] = []
    ) async -> AuthorityAnswer {
        await engine.ask(method, target, body, at: door, headers: headers, peer: "192.0.2.1")
    }

    /// Sends an inception, whose members the caller may change.
    func register(
        _ identity: TestIdentity, app: String = "kel", _ change: (inout [String: JSON]) throws -> Void = { _ in }
    ) async throws -> AuthorityAnswer {
        var members = try identity.registration()
        try change(&members)
        return await ask("POST", "/auths/\(app)/register", try JSON.members(members).encoded())
    }

    /// A registered identity.
    func identity() async throws -> TestIdentity {
        let identity = try TestIdentity()
        #expect(try await register(identity).status == 200)
        return identity
    }

    func send(_ events: [KeyEvent], of identity: TestIdentity) async throws -> AuthorityAnswer {
        await ask(
            "POST", "/auths/kel/v1/identities/\(identity.log.prefix)/kel", try KeyEvent.message(events))
    }

    /// Other events with a number that was taken, as an operator sees them.
    func conflicts(of identity: TestIdentity, at door: AuthorityRequest.Door = .admin) async -> AuthorityAnswer {
        await ask("GET", "/auths/kel/v1/identities/\(identity.log.prefix)/conflicts", at: door)
    }

    func revoke(_ identity: TestIdentity) async throws {
        let revocation = Revocation.device(app: "kel", id: identity.log.prefix, compromised: false)
        _ = try await stores.devices.revoke(revocation, reason: "a test", at: clock.now())
    }

    func log(of identity: TestIdentity, _ query: String = "", app: String = "kel") async -> AuthorityAnswer {
        await ask("GET", "/auths/\(app)/v1/identities/\(identity.log.prefix)/kel" + query)
    }
}

extension TestIdentity {

    func envelope(
        at seconds: Int64, type: String = "tool_call", payload: JSON = ["a": 1], by key: SoftwareKey? = nil
    ) throws -> [String: JSON] {
        let members: [String: JSON] = [
            "version": "1.0", "type": .string(type), "identity": .string(did), "payload": payload,
            "timestamp": .string(CivilDate.iso8601(seconds)),
        ]
        let bytes = try JSON.members(members).canonical()
        let signature = try (key ?? self.key).blockingSignature(for: .clientData(bytes)).normalised()
        return members.merging(["signature": .string(TextEncoding.hex.encode(signature.rawRepresentation))]) { $1 }
    }

    /// The value of Authorization.
    func presentation(nonce: String, audience: String = AuthsRig.origin, by key: SoftwareKey? = nil) throws -> String {
        let signature = try (key ?? self.key).blockingSignature(
            for: .presentation(
                credential: log.prefix, audience: audience, nonce: TextEncoding.base64url.decode(nonce)))
        let json: JSON = [
            "identity": .string(did), "credential_said": .string(log.prefix), "audience": .string(audience),
            "binding": ["challenge": ["nonce": .string(nonce)]],
            "signature_b64": .string(TextEncoding.base64url.encode(signature.rawRepresentation)),
        ]
        return "Auths-Presentation " + TextEncoding.base64url.encode(try json.encoded())
    }
}

extension AuthorityAnswer {
    /// The status and, of a refusal, the code or else the sentence.
    var auths: String {
        let word = json["code"]?.string ?? json["error"]?.string
        return word.map { "\(status) \($0)" } ?? "\(status)"
    }
}
