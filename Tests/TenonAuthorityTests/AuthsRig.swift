// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import TenonAuthorityAuths
import TenonAuthoritySynheart
import Testing

/// An authority with two apps of Auths, `kel` and `second`, and one of another service.
struct AuthsRig: Sendable {
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
        _ more: String = "", origins: String = "", _ body: (AuthsRig) async throws -> Void
    ) async throws {
        let (configuration, keys) = (try configuration(more, origins: origins), try ServiceRig.makeKeys())
        for kind in StoreKind.allCases {
            try await kind.withStores(services: services) { stores in
                stores.clock.advance(600_000)
                let kept = AuthorityStores(
                    challenges: stores.challenges, devices: stores.devices, replays: stores.replays,
                    answers: stores.answers)
                let engine = AuthorityEngine(
                    configuration: configuration, stores: kept, keys: keys, clock: stores.clock, ekRoots: [:])
                try await body(AuthsRig(engine: engine, stores: kept, clock: stores.clock))
            }
        }
    }

    var seconds: Int64 { clock.now().seconds }

    func ask(
        _ method: String, _ target: String, _ body: [UInt8] = [], at door: AuthorityRequest.Door = .public,
        headers: [(name: String, value: String)] = []
    ) async -> AuthorityAnswer {
        await engine.answer(
            AuthorityRequest(
                method: method, target: target, headers: [("Host", "127.0.0.1:8420")] + headers, body: body,
                peer: "192.0.2.1"), at: door)
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

    func send(_ events: [KeyEvent], of identity: TestIdentity, app: String = "kel") async throws -> AuthorityAnswer {
        let body: JSON = [
            "events": .array(events.map { .string(String(decoding: $0.bytes, as: UTF8.self)) }),
            "attachments": .array(events.map { .string($0.attachment) }),
        ]
        return await ask("POST", "/auths/\(app)/v1/identities/\(identity.log.prefix)/kel", try body.encoded())
    }

    func log(
        of identity: TestIdentity, _ query: String = "", app: String = "kel"
    ) async -> AuthorityAnswer {
        await ask("GET", "/auths/\(app)/v1/identities/\(identity.log.prefix)/kel" + query)
    }
}

/// An identity whose keys are in memory.
struct TestIdentity: Sendable {
    private(set) var log = KeyEventLog()
    private(set) var events: [KeyEvent] = []
    /// The current key and the next one.
    private(set) var keys: [SoftwareKey]

    init() throws {
        keys = [try SoftwareKey(), try SoftwareKey()]
        let event = try KeyEventLog.inception(key: keys[0].publicKey, next: keys[1].publicKey)
        try add(Self.signed(event, by: keys[0]))
    }

    var key: SoftwareKey { keys[0] }

    var did: String { KeyEventLog.didPrefix + log.prefix }

    /// A rotation to the next key, which it signs.
    mutating func rotate() throws -> KeyEvent {
        let next = try SoftwareKey()
        let rotation = try Self.signed(log.rotation(to: keys[1].publicKey, next: next.publicKey), by: keys[1])
        try add(rotation)
        keys = [keys[1], next]
        return rotation
    }

    /// A rotation that is not taken into this log: it commits to a key that nobody keeps.
    func other() throws -> KeyEvent {
        let next = try SoftwareKey().publicKey
        return try Self.signed(log.rotation(to: keys[1].publicKey, next: next), by: keys[1])
    }

    private mutating func add(_ event: KeyEvent) throws {
        try log.append(event)
        events.append(event)
    }

    static func signed(_ event: [UInt8], by key: SoftwareKey) throws -> KeyEvent {
        try KeyEvent(event, signature: key.blockingSignature(for: .event(event)).normalised())
    }

    /// The same event with another signature by the same key.
    func signedAgain(_ index: Int, by key: SoftwareKey) throws -> KeyEvent {
        try Self.signed(events[index].bytes, by: key)
    }

    func registration() throws -> [String: JSON] {
        var first = KeyEventLog()
        try first.append(events[0])
        let key = try #require(first.key)
        return [
            "prefix": .string(first.prefix), "did": .string(try first.did),
            "public_key_hex": .string(TextEncoding.hex.encode(key.compressedRepresentation)),
            "inception_event": .string(String(decoding: events[0].bytes, as: UTF8.self)),
            "attachment": .string(events[0].attachment), "device_name": "A phone",
        ]
    }

    // MARK: Messages

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
