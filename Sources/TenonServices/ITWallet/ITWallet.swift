// SPDX-License-Identifier: Apache-2.0
public import Tenon

/// A provider of the IT-Wallet, at which a device becomes an application instance (docs/it-wallet.md).
///
/// The provider knows an instance by its tag, which stands for the hardware key; requests name no app.
public struct ITWallet: Sendable {
    /// The local name of this identity; the provider is not told.
    public let appID: String
    /// The version of the wire.
    public let dialect: WalletDialect
    /// The PCRs of the SHA-256 bank that an integrity assertion is about.
    public var pcrs: Set<Int> = Set(0...7)
    /// What the requests call this application.
    public var platform = "linux"
    /// The id of the solution that the application is an instance of.
    public var solutionID: String
    /// Its version.
    public var solutionVersion = "1.0"
    /// Whether `hardware_signature` is over the hash of `client_data_hash`, as a few providers read the text.
    public var signsHashTwice = false
    /// The keys with which the provider signs what it issues; nil: those that it publishes at `/jwks`.
    public var issuerKeys: [PublicKey]?
    /// Checks that the provider is in the federation, before the first key is made. Tenon has no client of its own for
    /// the federation.
    public var checkFederation: (@Sendable () async throws(TenonError) -> Void)?
    /// How the nonce, the key and the tag are bound to the attestation; nil: as the dialect does it.
    public var binding: Binding?

    let origin: String
    let path: String

    /// Describes a provider; nothing is sent.
    ///
    /// - Parameters:
    ///   - baseURL: where the provider's endpoints are; `http` only when the host is this machine.
    ///   - appID: 1 to 200 visible characters of ASCII.
    ///   - dialect: the version of the wire.
    /// - Throws: ``TenonError/Code/httpURL``, ``TenonError/Code/appID``.
    public init(baseURL: String, appID: String, dialect: WalletDialect = .seed) throws(TenonError) {
        let name = try IdentityName(profile: Self.profile, baseURL: baseURL, appID: appID)
        let url = try HTTPURL(parsing: name.baseURL)
        guard url.isSecure || url.isLoopback else {
            throw TenonError(.httpURL, message: "The base URL must be https, except for this machine.")
        }
        var path = Substring(url.target)
        while path.hasSuffix("/") { path.removeLast() }
        origin = url.origin
        self.path = String(path)
        self.appID = appID
        self.dialect = dialect
        solutionID = appID
    }

    package static let profile = "it-wallet"

    /// The base URL in a normal form.
    package var baseURL: String { origin + path }

    /// The tag of a key: random, because the device drew the local id at random and never sends it, and another for each
    /// key. Nothing has to be stored for it, and no key can have two tags, or a tag two keys.
    package static func tag(of key: PublicKey, localID: String) throws(TenonError) -> String {
        let parts = Array("tenon/it-wallet/tag/1\n\(localID)\n".utf8) + key.rawRepresentation
        return TextEncoding.base64url.encode(try Digest(hashing: parts).rawRepresentation)
    }
}

extension ITWallet {
    /// What an attestation of an initialization carries as `client_data_hash`.
    public enum Binding: String, CaseIterable, Sendable {
        /// The SHA-256 of `{"nonce":...,"hardware_key_tag":...,"jwk_thumbprint":...}`, the thumbprint that of the key.
        case document
        /// The SHA-256 of the nonce, the point x || y of the key, and the tag, one behind the other.
        case concatenation
        /// The SHA-256 of the nonce: nothing is bound but the nonce.
        case nonceHash
        /// The bytes of the nonce, at most 32.
        case nonce
    }
}

/// A version of the IT-Wallet's wire.
public struct WalletDialect: Hashable, Sendable {
    /// The name that the record keeps.
    public let name: String
    /// The path of the initialization.
    let initialization: String
    /// What the body of the initialization and client data call the nonce.
    let nonceMember: String
    /// What the body of the initialization calls the attestation.
    let evidenceMember: String
    let binding: ITWallet.Binding
    /// The calls beside the initialization.
    let calls: [WalletCall]
    /// The end of the path of an instance's status behind `/wallet-instances/TAG`; nil: it cannot be asked for.
    let status: String?

    /// The page "Mobile Application Instance Initialization": the initialization alone.
    public static let seed = Self(
        name: "seed", initialization: "/application-instances", nonceMember: "nonce",
        evidenceMember: "key_attestation", binding: .document, calls: [], status: nil)
    /// About version 1.0 of the specification: the key binding, which returns wallet attestations.
    public static let v10 = Self(
        name: "1.0", initialization: "/instance-initialization", nonceMember: "nonce",
        evidenceMember: "integrity_assertion", binding: .document, calls: [.wallet, .relyingParty], status: "")
    /// About versions 1.4 and 1.5: one call for each kind of attestation.
    public static let v14 = Self(
        name: "1.4", initialization: "/instance-initialization", nonceMember: "nonce",
        evidenceMember: "key_attestation", binding: .document, calls: [.instance, .unit, .key, .relyingParty],
        status: "")
    /// The server that the national app uses.
    public static let pagopa = Self(
        name: "pagopa", initialization: "/wallet-instances", nonceMember: "challenge",
        evidenceMember: "key_attestation", binding: .nonceHash, calls: [.instance, .key.at("/key-attestations")],
        status: "/status")

    /// All dialects; the first is the default.
    package static let all = [seed, v10, v14, pagopa]

    /// The dialect that a record names.
    package static func named(_ name: String) -> WalletDialect? { all.first { $0.name == name } }

    public static func == (left: WalletDialect, right: WalletDialect) -> Bool { left.name == right.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// A call that has the hardware key vouch for a fresh one.
public struct WalletCall: Hashable, Sendable {
    /// The name that people give it.
    public let name: String
    var path: String
    /// The `typ` of the request's JWS.
    let type: String
    /// The member of the answer that holds what was issued; nil: the answer is 204 and has none.
    let answerMember: String?
    /// The `typ` of what is issued.
    let answerType: String?
    /// Whether the request says what the application is.
    let namesSolution: Bool
    /// Whether the fresh key is attested by a JWS of its own.
    let attestsKeys: Bool
    /// Whether the request carries an integrity assertion of its own.
    let assertsIntegrity: Bool

    /// The wallet attestation of version 1.0.
    public static let wallet = Self(
        name: "wallet", path: "/key-binding", type: "wp-war+jwt", answerMember: "wallet_attestations", answerType: nil,
        namesSolution: false, attestsKeys: false, assertsIntegrity: true)
    /// The wallet instance attestation, which lives for a day at most.
    public static let instance = Self(
        name: "instance", path: "/wallet-instance-attestations", type: "wia-request+jwt",
        answerMember: "wallet_instance_attestation", answerType: "oauth-client-attestation+jwt", namesSolution: true,
        attestsKeys: false, assertsIntegrity: true)
    /// The wallet unit attestation.
    public static let unit = Self(
        name: "unit", path: "/wallet-unit-attestations", type: "wua-request+jwt",
        answerMember: "wallet_unit_attestation", answerType: "key-attestation+jwt", namesSolution: true,
        attestsKeys: true, assertsIntegrity: true)
    /// The key attestation.
    public static let key = Self(
        name: "key", path: "/key-attestation", type: "ka-request+jwt", answerMember: "key_attestation",
        answerType: "key-attestation+jwt", namesSolution: true, attestsKeys: true, assertsIntegrity: false)
    /// The key binding of a relying party's instance, which an access certificate follows.
    public static let relyingParty = Self(
        name: "relying-party", path: "/key-binding", type: "rp-kb+jwt", answerMember: nil, answerType: nil,
        namesSolution: false, attestsKeys: false, assertsIntegrity: true)

    func at(_ path: String) -> WalletCall {
        var call = self
        call.path = path
        return call
    }
}
