// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Synchronization
import Tenon
import TenonITWallet

/// An honest IT-Wallet provider in memory, with its attestation CA and the network in front of them. It also keeps what
/// left the device at all, also what never arrived.
final class WalletService: FatedService {
    typealias Fate = ScriptedService.Fate

    struct State: Sendable {
        var nonces: Set<String> = []
        var numbers = 0
        /// The key of each instance, by its tag.
        var instances: [String: PublicKey] = [:]
        /// The keys that left the device with each tag, and the tags that left it with each key.
        var keys: [String: Set<PublicKey>] = [:]
        var tags: [PublicKey: Set<String>] = [:]
        /// The attestation keys that wait for their certificates, by the digest of the secret.
        var waiting: [Digest: PublicArea] = [:]
        /// The fate of what changes something at the provider: first of the next ones, then of all others.
        var fates: [Fate] = []
        var fate = Fate.arrives
        /// The fate of the exchange with this number, whatever it is.
        var fault: (number: Int, fate: Fate)?
        var exchanges = 0
        var late: [HTTPRequest] = []
        var refusesNonces = false
        /// Whether what it issues is old already.
        var isDueAtOnce = false
        /// Signs what it issues.
        var issuer: SoftwareKey
    }

    let state: Mutex<State>
    let time = FlowTime()
    /// Its `ek` is that of ``ekCertificate``.
    let ca: AuthorityRig
    let ekCertificate: [UInt8]
    /// One for all: its keys and certificates cost more than a device's life.
    private static let anyCA = Result { try AuthorityRig() }

    init() throws {
        state = try Mutex(State(issuer: SoftwareKey()))
        ca = try Self.anyCA.get()
        ekCertificate = try Vectors.certificates("certificates.txt")["ek"] ?? []
    }

    /// A copy of another one.
    init(copying other: WalletService) {
        let kept = other.state.withLock { $0 }
        state = Mutex(kept)
        (ca, ekCertificate) = (other.ca, other.ekCertificate)
    }

    func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

    var instances: [String: PublicKey] { state.withLock { $0.instances } }
    var tagsWithTwoKeys: Int { state.withLock { $0.keys.values.count { $0.count > 1 } } }
    var keysWithTwoTags: Int { state.withLock { $0.tags.values.count { $0.count > 1 } } }

    func changeLate<Value: Sendable>(_ body: (inout [HTTPRequest]) -> Value) -> Value {
        state.withLock { body(&$0.late) }
    }

    func fate(of request: HTTPRequest) -> Fate { state.withLock { $0.fate(of: request) } }

    func body(code: String?) -> JSON { ["error": .string(code ?? "unknown")] }

    func response(_ status: Int, _ body: JSON, _ headers: [(name: String, value: String)]) -> HTTPResponse {
        response(status, Self.encoded(body))
    }

    private static func encoded(_ json: JSON) -> [UInt8] { (try? json.encoded()) ?? [] }

    private func response(_ status: Int, _ body: [UInt8]) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: body.isEmpty ? [] : [("Content-Type", "application/json")], body: body,
            sent: time.moment, received: time.moment)
    }

    func answer(_ request: HTTPRequest) -> HTTPResponse {
        do {
            let (status, body) = try state.withLock { state in try reply(to: request, &state) }
            return response(status, body)
        } catch {
            return response(400, Self.encoded(["error": "bad_request"]))
        }
    }

    private func reply(to request: HTTPRequest, _ state: inout State) throws -> (Int, [UInt8]) {
        let path = request.walletPath
        switch (request.method, path) {
        case ("POST", "/ca/attest"): return try offer(AttestRequest(parsing: request.body), &state)
        case ("POST", "/ca/secret"): return try certify(SecretRequest(parsing: request.body), &state)
        case ("GET", "/it/nonce"): return state.nonce()
        case ("GET", "/it/jwks"): return (200, try (["keys": [state.issuer.publicKey.jwk]] as JSON).encoded())
        case ("POST", "/it/instance-initialization"): return try state.initialize(request)
        case ("POST", "/it/wallet-instance-attestations"):
            let (issuer, isOld) = (state.issuer, state.isDueAtOnce)
            return try state.use(request) { key in try attestation(of: key, by: issuer, isOld: isOld) }
        case ("GET", _) where path.hasPrefix("/it/wallet-instances/"):
            let tag = String(path.dropFirst("/it/wallet-instances/".count))
            guard state.instances[tag] != nil else { return (404, Self.encoded(["error": "not_found"])) }
            return (200, Self.encoded(["id": .string(tag), "status": "ACTIVE"]))
        default: return (404, Self.encoded(["error": "not_found"]))
        }
    }
}

// The attestation CA, whose credential is the secret itself, and what the provider signs.
extension WalletService {
    private func offer(_ request: AttestRequest, _ state: inout State) throws -> (Int, [UInt8]) {
        state.numbers += 1
        let secret = [0, 32, UInt8(state.numbers >> 8), UInt8(state.numbers & 0xff)] + [UInt8](repeating: 7, count: 30)
        state.waiting[try Digest(hashing: secret)] = try PublicArea(dataRepresentation: request.ak)
        return (200, try AttestAnswer(Credential(idObject: secret, encryptedSecret: [0, 1, 0])).encoded())
    }

    private func certify(_ request: SecretRequest, _ state: inout State) throws -> (Int, [UInt8]) {
        guard let ak = state.waiting.removeValue(forKey: try request.digest) else { return (403, []) }
        let leaf = try ca.issuer.certificate(for: ak, of: ca.ek, terms: ca.terms)
        return (200, try SecretAnswer(chain: [leaf, ca.issuer.certificate]).encoded())
    }

    private func attestation(of key: PublicKey, by issuer: SoftwareKey, isOld: Bool) throws -> String {
        let now = time.seconds
        let header: JSON = ["alg": "ES256", "typ": "oauth-client-attestation+jwt"]
        let claims: JSON = [
            "iss": "https://wallet.example/it", "iat": .integer(isOld ? now - 86_000 : now), "exp": .integer(now + 400),
            "cnf": ["jwk": key.jwk],
        ]
        let input =
            try TextEncoding.base64url.encode(header.encoded()) + "." + TextEncoding.base64url.encode(claims.encoded())
        let signature = try issuer.blockingSignature(for: .jws(input))
        return input + "." + TextEncoding.base64url.encode(signature.rawRepresentation)
    }
}

extension HTTPRequest {
    fileprivate var walletPath: String { String(url.dropFirst("https://wallet.example".count)) }
}

extension WalletService.State {
    /// Notes a request, and says what the network does with it.
    mutating func fate(of request: HTTPRequest) -> WalletService.Fate {
        exchanges += 1
        if request.walletPath == "/it/instance-initialization", let sent = Initialization(request) {
            keys[sent.tag, default: []].insert(sent.key)
            tags[sent.key, default: []].insert(sent.tag)
        }
        if let fault, fault.number == exchanges {
            self.fault = nil
            return fault.fate
        }
        guard ["/it/instance-initialization", "/it/wallet-instance-attestations"].contains(request.walletPath) else {
            return .arrives
        }
        return fates.isEmpty ? fate : fates.removeFirst()
    }

    /// What an initialization says, with a proof of a ``ScriptedVault``.
    private struct Initialization {
        let nonce: String
        let tag: String
        let key: PublicKey
        let statement: [UInt8]

        init?(_ request: HTTPRequest) {
            guard let json = try? JSON(parsing: request.body), json.object?.members.count == 3,
                let nonce = json["nonce"]?.string, let tag = json["hardware_key_tag"]?.string,
                let proof = json["key_attestation"]?.string.flatMap({ try? TextEncoding.base64url.decode($0) }),
                proof.count == 133, let key = try? PublicKey(rawRepresentation: Array(proof[5..<69]))
            else { return nil }
            (self.nonce, self.tag, self.key, statement) = (nonce, tag, key, Array(proof[69..<101]))
        }
    }

    fileprivate mutating func nonce() -> (Int, [UInt8]) {
        guard !refusesNonces else { return (400, Self.word("bad_request")) }
        numbers += 1
        nonces.insert("nonce-\(numbers)")
        return (200, Array(#"{"nonce":"nonce-\#(numbers)"}"#.utf8))
    }

    private static func word(_ word: String) -> [UInt8] { Array(#"{"error":"\#(word)"}"#.utf8) }

    fileprivate mutating func initialize(_ request: HTTPRequest) throws -> (Int, [UInt8]) {
        guard let sent = Initialization(request) else { return (400, Self.word("bad_request")) }
        let data = try ClientData.initialization(
            "nonce", nonce: sent.nonce, tag: sent.tag, thumbprint: sent.key.thumbprint)
        guard nonces.remove(sent.nonce) != nil, try Digest(hashing: data).rawRepresentation == sent.statement,
            instances[sent.tag] == nil || instances[sent.tag] == sent.key
        else { return (403, Self.word("invalid_request")) }
        instances[sent.tag] = sent.key
        return (204, [])
    }

    /// - Parameter issue: makes the attestation of a key.
    fileprivate mutating func use(
        _ request: HTTPRequest, _ issue: (PublicKey) throws -> String
    ) throws -> (Int, [UInt8]) {
        let token = try JWS(parsing: JSON(parsing: request.body)["assertion"]?.string ?? "")
        let claims = token.claims
        func bytes(_ name: String) throws -> [UInt8] { try TextEncoding.base64url.decode(claims[name]?.string ?? "") }
        guard let nonce = claims["nonce"]?.string, nonces.remove(nonce) != nil else {
            return (403, Self.word("invalid_request"))
        }
        guard let key = instances[claims["hardware_key_tag"]?.string ?? ""] else {
            return (404, Self.word("not_found"))
        }
        guard let jwk = claims["cnf"]?["jwk"], let fresh = PublicKey(jwk: jwk), token.isSigned(by: fresh) else {
            return (403, Self.word("invalid_request"))
        }
        let data = try ClientData.use("nonce", nonce: nonce, thumbprint: fresh.thumbprint)
        let signature = try Signature(derRepresentation: bytes("hardware_signature"))
        let quote = try Array("quote".utf8) + Digest(hashing: data).rawRepresentation
        guard key.isValidSignature(signature, for: data), try bytes("integrity_assertion") == quote else {
            return (403, Self.word("invalid_request"))
        }
        let text = try issue(fresh)
        return (200, Array(#"{"wallet_instance_attestation":"\#(text)"}"#.utf8))
    }
}
