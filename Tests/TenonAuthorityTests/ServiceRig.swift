// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Tenon
import TenonAuthority
import TenonAuthoritySynheart
import Testing

/// A service on empty stores, with functions that ask it. Its apps: `demo`, as on a development server; `open`, without
/// attestation; `strict`, with all requirements.
struct ServiceRig: Given {
    @TaskLocal static var held: ServiceRig?
    static var given: TaskLocal<ServiceRig?> { $held }

    let service: AuthorityEngine
    let stores: AuthorityStores
    let clock: FakeClock
    let keys: AuthorityKeys

    static let token = "0123456789abcdef0123456789abcdef"
    static let otherToken = "fedcba9876543210fedcba9876543210"
    static let tokenDigest = digest(token)
    static let otherTokenDigest = digest(otherToken)

    private static func digest(_ text: String) -> String {
        (try? Digest(hashing: Array(text.utf8)))?.description ?? ""
    }

    static let backends = """
        [{"name": "ingest", "token_sha256": "\(tokenDigest)", "apps": ["open"], "mount": "/ingest",
          "hosts": ["api.example"]}]
        """

    static func configuration(
        _ apps: String, limits: String, origins: String, backends: String = backends
    ) throws -> Configuration {
        let text = """
            {"origins": \(origins), "apps": \(apps), "limits": \(limits),
             "internal": {"unix": "internal.sock"}, "backends": \(backends)}
            """
        return try Configuration(parsing: Array(text.utf8))
    }

    static let apps = """
        [{"id": "demo", "allow_development": true},
         {"id": "open", "require_attestation": false, "unproven_rotation": "mark_unattested", "max_key_age_days": 90},
         {"id": "strict"},
         {"id": "loose", "require_attestation": false, "v1_query": "allow", "dialects": ["docs"]}]
        """

    static let origins = #"["http://127.0.0.1:8420"]"#

    static func with(
        apps: String = apps, limits: String = "{}", origins: String = origins, backends: String = backends,
        _ body: (ServiceRig) async throws -> Void
    ) async throws {
        try await with(configuration(apps, limits: limits, origins: origins, backends: backends), body)
    }

    /// Runs a test on a service of its own, on each kind of stores. The stores are older than any valid request,
    /// because new ones refuse requests that they may have forgotten.
    static func with(
        _ configuration: Configuration, services: [HostedService] = [], on kinds: [StoreKind] = StoreKind.allCases,
        _ body: (ServiceRig) async throws -> Void
    ) async throws {
        let (limits, replays) = (configuration.limits, MemoryReplayStore.Limits())
        let kept = MemoryReplayStore.Limits(
            perDevice: replays.perDevice, rootsPerDevice: limits.rootsPerDevice, total: replays.total)
        for kind in kinds {
            try await kind.withStores(
                maxChallenges: limits.challenges, replayLimits: kept, services: services
            ) { stores in
                stores.clock.advance(600_000)
                try await body(rig(on: stores, configuration))
            }
        }
    }

    static func on(_ kind: StoreKind, _ body: (ServiceRig) async throws -> Void) async throws {
        try await with(configuration(apps, limits: "{}", origins: origins), on: [kind], body)
    }

    static func rig(on stores: TestStores, _ configuration: Configuration? = nil) throws -> ServiceRig {
        let (usual, keys) = (try Self.configuration(apps, limits: "{}", origins: origins), try makeKeys())
        let kept = AuthorityStores(
            challenges: stores.challenges, devices: stores.devices, replays: stores.replays, answers: stores.answers)
        let service = AuthorityEngine(
            configuration: configuration ?? usual, stores: kept, keys: keys, clock: stores.clock, ekRoots: [:])
        return ServiceRig(service: service, stores: kept, clock: stores.clock, keys: keys)
    }

    static func makeKeys() throws -> AuthorityKeys {
        let terms = CertificateTerms(serial: Array(1...16), notBefore: 1_700_000_000, notAfter: 1_900_000_000)
        let root = try AttestationAuthority(root: "Root", key: SoftwareKey(signsDigests: true), terms: terms)
        let key = try SoftwareKey(signsDigests: true)
        let certificate = try root.certificate(forAuthority: "Issuer", key: key.publicKey, terms: terms)
        let secret = { (byte: UInt8) in Secret(copying: [UInt8](repeating: byte, count: 32).span) }
        return AuthorityKeys(
            certificate: certificate, key: key, roots: [root.certificate], activation: secret(1), ek: secret(2),
            audit: secret(3))
    }

    /// The same service on other stores.
    func service(
        on stores: AuthorityStores, refused: (@Sendable (String) -> Void)? = nil
    ) -> AuthorityEngine {
        AuthorityEngine(
            configuration: service.configuration, stores: stores, keys: keys, clock: clock, ekRoots: [:],
            refused: refused)
    }

    var seconds: Int64 { clock.now().seconds }

    func post(
        _ path: String, _ json: JSON, headers: [(name: String, value: String)] = [],
        at door: AuthorityRequest.Door = .public
    ) async throws -> AuthorityAnswer {
        await service.ask("POST", path, try json.encoded(), at: door, headers: headers, peer: "192.0.2.1")
    }

    /// A challenge of dialect `docs`.
    func challenge(_ app: String = "open") async throws -> String {
        let answer = try await post("/v1/device/challenge", ["app_id": .string(app)])
        return try #require(answer.json["challenge"]?.string)
    }

    func registration(_ key: PublicKey, app: String = "open", challenge: String? = nil) async throws -> [String: JSON] {
        let fresh = if let challenge { challenge } else { try await self.challenge(app) }
        return [
            "app_id": .string(app), "public_key": .string(TextEncoding.base64.encode(key.derRepresentation)),
            "challenge": .string(fresh), "platform": "linux", "proof": "none",
        ]
    }

    func register(_ key: PublicKey, app: String = "open", challenge: String? = nil) async throws -> AuthorityAnswer {
        try await post("/v1/device/register", .members(registration(key, app: app, challenge: challenge)))
    }

    /// A registered device.
    func device(_ app: String = "open", versions: [Int64]? = nil) async throws -> TestDevice {
        let key = try SoftwareKey(signsDigests: true)
        var members = try await registration(key.publicKey, app: app)
        members["sig_versions"] = versions.map { .array($0.map(JSON.integer)) }
        let answer = try await post("/v1/device/register", .members(members))
        return TestDevice(app: app, id: try #require(answer.json["device_id"]?.string), key: key)
    }

    /// Sends a request like a device.
    func ask(_ request: AuthorityRequest, at door: AuthorityRequest.Door = .public) async -> AuthorityAnswer {
        await service.answer(request, at: door)
    }

    /// The verdict on a device's own request.
    func echo(_ device: TestDevice, _ path: String = "/v1/echo") async throws -> String {
        await ask(try device.request("GET", path, at: seconds)).verdict
    }

    func rotate(_ device: TestDevice, to key: SoftwareKey) async throws -> AuthorityAnswer {
        await ask(try device.rotation(to: key.publicKey, at: seconds))
    }

    /// An operator revokes a device.
    func revoke(_ device: TestDevice) async throws -> AuthorityAnswer {
        let body: JSON = ["app_id": .string(device.app), "device_id": .string(device.id), "reason": "lost"]
        return try await post("/v1/revoke", body, at: .admin)
    }

    func metrics() async -> String { await service.metrics() }
}

/// The key of a device.
struct TestDevice: Sendable {
    var app: String
    var id: String
    var key: SoftwareKey

    /// A signed request, with one fault if the caller wants it.
    func request(
        _ method: String, _ path: String, _ body: [UInt8] = [], at seconds: Int64, nonce: String? = nil,
        target: String? = nil
    ) throws -> AuthorityRequest {
        var message = try RequestMessage(method: method, path: path, timestamp: String(seconds))
        try message.update(body.span)
        let headers = try RequestHeaders(
            signature: key.blockingSignature(for: .request(message)), appID: app, deviceID: id,
            timestamp: String(seconds), nonce: nonce ?? RequestHeaders.makeNonce())
        return AuthorityRequest(
            method: method, target: target ?? path, headers: [("Host", "auth.example")] + headers.lines, body: body,
            peer: "192.0.2.1")
    }

    func rotation(to newKey: PublicKey, at seconds: Int64, proof: JSON? = nil) throws -> AuthorityRequest {
        var members: [String: JSON] = [
            "app_id": .string(app), "device_id": .string(id),
            "new_public_key": .string(TextEncoding.base64.encode(newKey.derRepresentation)),
        ]
        members["proof"] = proof
        return try request("POST", "/v1/device/rotate-key", JSON.members(members).encoded(), at: seconds)
    }
}

extension RequestHeaders {
    var lines: [(name: String, value: String)] {
        [
            ("X-App-ID", appID), ("X-Device-ID", deviceID), ("X-Synheart-Signature", signature),
            ("X-Synheart-Timestamp", timestamp), ("X-Synheart-Nonce", nonce),
            ("X-Synheart-Sig-Version", signatureVersion),
        ]
    }
}

extension AuthorityRequest {
    /// The request with another value of a header, or without it.
    func with(_ name: String, _ value: String?) -> AuthorityRequest {
        var request = self
        request.headers.removeAll { $0.name == name }
        if let value { request.headers.append((name, value)) }
        return request
    }
}

extension AuthorityEngine {
    /// Sends a request as a client does.
    func ask(
        _ method: String, _ target: String, _ body: [UInt8] = [], at door: AuthorityRequest.Door = .public,
        headers: [(name: String, value: String)] = [], host: String = "127.0.0.1:8420", peer: String = ""
    ) async -> AuthorityAnswer {
        let headers = [("Host", host)] + headers
        return await answer(
            AuthorityRequest(method: method, target: target, headers: headers, body: body, peer: peer), at: door)
    }

    func post(
        _ target: String, _ json: JSON, at door: AuthorityRequest.Door = .public, peer: String = ""
    ) async throws -> AuthorityAnswer {
        await ask("POST", target, try json.encoded(), at: door, peer: peer)
    }

    func metrics() async -> String { String(decoding: await ask("GET", "/metrics", at: .admin).body, as: UTF8.self) }
}

extension AuthorityAnswer {
    var json: JSON { (try? JSON(parsing: body)) ?? .null }
    var code: String? { json["error_code"]?.string }

    /// The status and, of a refusal, the code.
    var verdict: String { code.map { "\(status) \($0)" } ?? "\(status)" }

    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

extension JSON {
    static func members(_ members: [String: JSON]) -> JSON {
        var object = JSONObject()
        for (name, value) in members { object[name] = value }
        return .object(object)
    }
}

// Most tests use the form of one service.
extension Configuration {
    init(parsing bytes: [UInt8], tls: Listener.TLS? = nil) throws(TenonError) {
        try self.init(parsing: bytes, services: [.synheart], tls: tls)
    }

    init(file path: String) throws(TenonError) { try self.init(file: path, services: [.synheart]) }

    /// One app `open` that asks for no attestation, and more members, each behind a comma.
    static func open(
        _ more: String = "", app: String = #"{"id": "open", "require_attestation": false}"#,
        origin: String = "http://127.0.0.1:8420"
    ) throws -> Configuration {
        try Configuration(parsing: Array(#"{"origins": ["\#(origin)"], "apps": [\#(app)]\#(more)}"#.utf8))
    }
}

extension AppRecord {
    var dialects: Set<SynheartSettings.Dialect>? { settings(SynheartSettings.self)?.dialects }
    var version1Query: SynheartSettings.Version1Query? { settings(SynheartSettings.self)?.version1Query }
}
