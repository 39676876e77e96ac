// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import TenonAuthorityITWallet
import TenonAuthoritySynheart
import TestEvidence
import Testing

/// An authority with two apps of IT-Wallet, `wallet` and `other`, and one of another service.
struct WalletRig: Given {
    @TaskLocal static var held: WalletRig?
    static var given: TaskLocal<WalletRig?> { $held }

    let engine: AuthorityEngine
    let stores: AuthorityStores
    let clock: FakeClock
    let keys: AuthorityKeys

    static let token = ServiceRig.token
    static let origin = "http://127.0.0.1:8420"
    static let services: [HostedService] = [.synheart, .itWallet]

    static func configuration(_ more: String = "", challenges: Int = 10_000) throws -> Configuration {
        let (digest, other) = (ServiceRig.tokenDigest, try Digest(hashing: Array((token + "2").utf8)))
        let text = """
            {"origins": ["\(origin)"], "internal": {"unix": "internal.sock"},
             "limits": {"per_address_per_minute": 1000000, "challenges": \(challenges)},
             "apps": [{"id": "wallet", "service": "it-wallet"\(more)}, {"id": "other", "service": "it-wallet"},
                      {"id": "open", "require_attestation": false}],
             "backends": [{"name": "portal", "token_sha256": "\(digest)", "apps": ["wallet"]},
                          {"name": "shop", "token_sha256": "\(other)", "apps": ["open"]}]}
            """
        return try Configuration(parsing: Array(text.utf8), services: services)
    }

    /// Runs a test on an authority of its own, on each kind of stores.
    ///
    /// - Parameters:
    ///   - more: members of the app `wallet`.
    ///   - challenges: the most nonces that may be outstanding.
    static func with(
        _ more: String = "", challenges: Int = 10_000, on kinds: [StoreKind] = StoreKind.allCases,
        _ body: (WalletRig) async throws -> Void
    ) async throws {
        let configuration = try configuration(more, challenges: challenges)
        try await ServiceRig.with(configuration, services: services, on: kinds) { rig in
            try await body(WalletRig(engine: rig.service, stores: rig.stores, clock: rig.clock, keys: rig.keys))
        }
    }

    static func on(_ kind: StoreKind, _ body: (WalletRig) async throws -> Void) async throws {
        try await with(on: [kind], body)
    }

    // MARK: Devices

    /// A device whose attestation key this authority certified, for one app.
    ///
    /// - Parameter ak: the attestation key; nil for a new one.
    func device(
        _ app: String = "wallet", ek: String = "EK", ak: SoftwareKey? = nil
    ) async throws -> WalletDevice {
        let (key, ak) = (try SoftwareKey(signsDigests: true), try ak ?? SoftwareKey(signsDigests: true))
        let now = clock.now().seconds
        let (chain, area, serial) = try WalletDevice.certificates(of: ak, by: keys, at: now)
        let hidden = try keys.hidden(Digest(hashing: Array(ek.utf8)))
        let record = AKCertificate(serial: serial, app: app, ek: hidden, akName: area.name, notAfter: now + 86_400)
        #expect(try await stores.devices.record(record))
        return WalletDevice(
            key: key, ak: ak, certificates: chain, serial: serial, ek: hidden,
            tag: TextEncoding.base64url.encode([UInt8](random: 32)))
    }

    func nonce(_ app: String = "wallet") async throws -> String {
        try #require(await ask("GET", "/it-wallet/\(app)/nonce").json["nonce"]?.string)
    }

    /// A device that is initialized.
    func initialized(_ app: String = "wallet") async throws -> WalletDevice {
        let device = try await device(app)
        #expect(try await initialize(device, app: app).verdict == "204")
        return device
    }

    /// Sends an initialization, whose members the caller may change.
    func initialize(
        _ device: WalletDevice, app: String = "wallet", nonce: String? = nil, path: String = "application-instances",
        _ change: (inout [String: JSON]) throws -> Void = { _ in }
    ) async throws -> AuthorityAnswer {
        let fresh = if let nonce { nonce } else { try await self.nonce(app) }
        var members = try device.initialization(nonce: fresh)
        try change(&members)
        return await ask("POST", "/it-wallet/\(app)/\(path)", try JSON.members(members).encoded())
    }

    // MARK: Requests

    func ask(
        _ method: String, _ target: String, _ body: [UInt8] = [], at door: AuthorityRequest.Door = .public,
        headers: [(name: String, value: String)] = []
    ) async -> AuthorityAnswer {
        await engine.ask(method, target, body, at: door, headers: headers, peer: "192.0.2.1")
    }

    /// A request of the backend `portal`.
    func portal(_ method: String, _ target: String, _ json: JSON? = nil) async throws -> AuthorityAnswer {
        await ask(
            method, "/it-wallet/wallet/" + target, try json?.encoded() ?? [], at: .internal,
            headers: [("Authorization", "Bearer " + Self.token)])
    }
}

/// A hardware key and an attestation key, as a TPM would have them.
struct WalletDevice: Sendable {
    var key: SoftwareKey
    var ak: SoftwareKey
    var certificates: [[UInt8]]
    var serial: [UInt8]
    var ek: Digest
    var tag: String

    /// The public area of an attestation key.
    static func akArea(of ak: SoftwareKey) throws -> [UInt8] {
        try ProofRig(key: ak.publicKey, ak: ak, nonce: Digest(hashing: [])).akArea
    }

    /// A certificate for a day, and the one above it.
    static func certificates(
        of ak: SoftwareKey, by keys: AuthorityKeys, at now: Int64 = 1_800_000_000
    ) throws -> (chain: [[UInt8]], area: PublicArea, serial: [UInt8]) {
        let area = try PublicArea(dataRepresentation: akArea(of: ak))
        let terms = CertificateTerms(serial: [UInt8](random: 16), notBefore: now - 60, notAfter: now + 86_400)
        let leaf = try keys.issuer.certificate(
            for: area, maker: Array("id:53544D20".utf8), model: Array("ST33".utf8), version: Array("id:00010102".utf8),
            terms: terms)
        return ([leaf, keys.issuer.certificate], area, terms.serial)
    }

    func with(ak: SoftwareKey) -> WalletDevice {
        var device = self
        device.ak = ak
        return device
    }

    /// The client data of an initialization (docs/it-wallet.md).
    static func clientData(nonce: String, tag: String, key: PublicKey) throws -> Digest {
        let text = """
            {"nonce":"\(nonce)","hardware_key_tag":"\(tag)","jwk_thumbprint":"\(try key.thumbprint)"}
            """
        return try Digest(hashing: Array(text.utf8))
    }

    /// The proof of a key in base64url, with one fault if the caller wants it.
    func proof(
        over digest: Digest, of other: PublicKey? = nil, _ change: (inout ProofRig) -> Void = { _ in }
    ) throws -> String {
        var rig = ProofRig(key: other ?? key.publicKey, ak: ak, nonce: digest)
        rig.certificates = certificates
        change(&rig)
        return TextEncoding.base64url.encode(try rig.proof().dataRepresentation)
    }

    func initialization(nonce: String) throws -> [String: JSON] {
        let digest = try Self.clientData(nonce: nonce, tag: tag, key: key.publicKey)
        return [
            "nonce": .string(nonce), "hardware_key_tag": .string(tag),
            "key_attestation": .string(try proof(over: digest)),
        ]
    }
}

extension AuthorityAnswer {
    /// The status and, of a refusal, the word of IT-Wallet.
    var wallet: String { json["error"]?.string.map { "\(status) \($0)" } ?? "\(status)" }
}
