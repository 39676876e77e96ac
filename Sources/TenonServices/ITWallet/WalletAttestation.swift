// SPDX-License-Identifier: Apache-2.0
public import Tenon

/// What a provider issued for a fresh key, with the key: a JWS, or a certificate.
public struct WalletAttestation: Hashable, Sendable {
    /// The name of the call that it came from.
    public let call: String
    /// The compact JWS, or an access certificate and those above it in PEM, as the provider gave them.
    public let text: String
    /// The public half of the key that it is about.
    public let key: PublicKey
    /// The key's file: useless without this TPM.
    public let keyFile: [UInt8]
    /// Unix seconds; nil for an access certificate, whose dates are in it.
    public let issuedAt: Int64?
    /// When the attestation ends, in Unix seconds; nil if it does not say.
    public let expiresAt: Int64?
}

extension WalletAttestation {
    /// Checks that the provider issued the token for this key, and that it is valid now.
    ///
    /// - Parameter keys: the provider's.
    init(
        _ text: String, of call: WalletCall, for key: PublicKey, _ file: [UInt8], issuer: String, keys: [PublicKey],
        now: Int64
    ) throws(TenonError) {
        let token = try JWS(parsing: text)
        guard keys.contains(where: { token.isSigned(by: $0) }) else {
            throw Self.refusal("was not signed by a key of the provider")
        }
        guard call.answerType == nil || token.header["typ"]?.string == call.answerType else {
            throw Self.refusal("is of another type")
        }
        guard token.claims["iss"]?.string == issuer else { throw Self.refusal("names another issuer") }
        guard let jwk = token.claims["cnf"]?["jwk"], PublicKey(jwk: jwk) == key else {
            throw Self.refusal("is about another key")
        }
        let issuedAt = token.claims["iat"]?.integer
        guard let expiresAt = token.claims["exp"]?.integer, expiresAt > now, issuedAt ?? now <= now + Self.clockError,
            token.claims["nbf"]?.integer ?? now <= now + Self.clockError
        else { throw Self.refusal("is not valid now") }
        self.init(
            call: call.name, text: text, key: key, keyFile: file, issuedAt: issuedAt ?? now, expiresAt: expiresAt)
    }

    private static let clockError: Int64 = 300

    static func refusal(_ what: String) -> TenonError {
        TenonError(.serviceAnswer, message: "What the provider issued \(what), and is not kept.")
    }

    /// Whether it is to be renewed: after two thirds of its life.
    func isDue(at now: Int64) -> Bool {
        guard let issuedAt, let expiresAt else { return false }
        return now >= issuedAt + (expiresAt - issuedAt) * 2 / 3
    }
}

/// What an instance keeps of its calls, the newest of each kind, in a file beside the record.
struct KeptAttestations {
    /// Of which instance it is: after another initialization it counts no more.
    let tag: String
    var list: [WalletAttestation] = []
    /// The keys that the provider published last, so that they are asked for only when another one signs.
    var issuerKeys: [PublicKey] = []

    mutating func replace(_ attestation: WalletAttestation) {
        list.removeAll { $0.call == attestation.call }
        list.append(attestation)
    }

    /// What cannot be read, or is another instance's, is nothing: it can be had again.
    init(_ file: [UInt8]?, tag: String) {
        self.tag = tag
        guard let file, let json = try? JSON(parsing: file, maxBytes: 262_144), json["tag"]?.string == tag else {
            return
        }
        list = (json["attestations"]?.array ?? []).compactMap(Self.attestation)
        issuerKeys = (json["issuer_keys"]?.array ?? []).compactMap(PublicKey.init(jwk:))
    }

    func encoded() throws(TenonError) -> [UInt8] {
        let json: JSON = [
            "tag": .string(tag), "attestations": .array(list.map(Self.json)),
            "issuer_keys": .array(issuerKeys.map(\.jwk)),
        ]
        return try json.encoded()
    }

    private static func json(_ attestation: WalletAttestation) -> JSON {
        [
            "call": .string(attestation.call), "text": .string(attestation.text), "jwk": attestation.key.jwk,
            "key": .string(TextEncoding.base64.encode(attestation.keyFile)),
            "iat": attestation.issuedAt.map { .integer($0) } ?? .null,
            "exp": attestation.expiresAt.map { .integer($0) } ?? .null,
        ]
    }

    private static func attestation(_ json: JSON) -> WalletAttestation? {
        guard let call = json["call"]?.string, let text = json["text"]?.string, let jwk = json["jwk"],
            let key = PublicKey(jwk: jwk),
            let file = json["key"]?.string.flatMap({ try? TextEncoding.base64.decode($0) })
        else { return nil }
        return WalletAttestation(
            call: call, text: text, key: key, keyFile: file, issuedAt: json["iat"]?.integer,
            expiresAt: json["exp"]?.integer)
    }
}
