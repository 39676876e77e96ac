// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority

/// An action that an identity signs, with the time of the signature.
struct ActionEnvelope {
    let type: String
    /// The identifier without `did:keri:`.
    let identity: String
    let signature: Signature
    /// Unix seconds.
    let timestamp: Int64
    let signedBytes: [UInt8]

    private static let signed = ["version", "type", "identity", "payload", "timestamp"]
    private static let unsigned = ["signature", "attestation_chain", "environment"]

    /// Members that are not known are refused: nobody could say whether they are signed.
    init(_ object: JSONObject) throws(Refusal) {
        guard object["version"]?.string == "1.0" else { throw .malformed("version") }
        guard let type = object["type"]?.string, 1...200 ~= type.utf8.count else { throw .malformed("type") }
        guard let time = object["timestamp"]?.string.flatMap({ CivilDate.iso8601($0) }) else {
            throw .malformed("timestamp")
        }
        guard object["payload"] != nil else { throw .malformed("payload") }
        (identity, signature) = (try object.identity("identity"), try object.hexSignature())
        (self.type, timestamp) = (type, time.components.seconds)
        var signed = object
        for name in ActionEnvelope.unsigned { signed[name] = nil }
        guard signed.members.count == ActionEnvelope.signed.count else { throw .malformed("member") }
        let message = JSON.object(signed)
        signedBytes = try refusing(Refusal.init(form:)) { () throws(TenonError) in try message.canonical() }
    }
}

/// The presentation of a credential. It shows who holds the key of the identity; whether the credential is good, is
/// not checked here.
struct Presentation {
    let identity: String
    let credential: String
    let audience: String
    let nonce: [UInt8]
    let signature: Signature

    private static let scheme = "Auths-Presentation "

    /// Takes the value of the header Authorization.
    init(_ header: String) throws(Refusal) {
        guard header.hasPrefix(Presentation.scheme) else {
            throw Refusal(.invalidSignature, "The scheme of Authorization is not Auths-Presentation.")
        }
        let token = String(header.dropFirst(Presentation.scheme.count))
        let json = try refusing(Refusal.init(form:)) { () throws(TenonError) in
            try JSON(parsing: TextEncoding.base64url.decode(token), maxBytes: 4_096)
        }
        guard let object = json.object else { throw .malformed("presentation") }
        guard let credential = object["credential_said"]?.string, credential.utf8.count == 44 else {
            throw .malformed("credential_said")
        }
        guard let audience = object["audience"]?.string, !audience.utf8.contains(0) else {
            throw .malformed("audience")
        }
        guard let nonce = object["binding"]?["challenge"]?["nonce"]?.string.flatMap(Presentation.bytes) else {
            throw .malformed("binding")
        }
        guard let raw = object["signature_b64"]?.string.flatMap(Presentation.bytes),
            let signature = try? Signature(rawRepresentation: raw)
        else { throw .malformed("signature_b64") }
        identity = try object.identity("identity")
        (self.credential, self.audience, self.nonce, self.signature) = (credential, audience, nonce, signature)
    }

    var signedBytes: [UInt8] { Array(credential.utf8) + [0] + Array(audience.utf8) + [0] + nonce }

    private static func bytes(_ text: String) -> [UInt8]? { try? TextEncoding.base64url.decode(text) }
}

/// Data and its signature.
struct BareSignature {
    let identity: String
    let data: [UInt8]
    let signature: Signature

    /// Data that could be another message of the device is refused: its signature was made for something else.
    init(_ object: JSONObject) throws(Refusal) {
        guard let text = object["data"]?.string else { throw .malformed("data") }
        data = Array(text.utf8)
        guard data.first != UInt8(ascii: "{"), !data.contains(0) else { throw .malformed("data") }
        (identity, signature) = (try object.identity("did"), try object.hexSignature())
    }
}

extension JSONObject {
    /// A DID of KERI, without what stands before its identifier.
    fileprivate func identity(_ name: String) throws(Refusal) -> String {
        guard let did = self[name]?.string, did.hasPrefix(KeyEventLog.didPrefix), did.utf8.count == 53 else {
            throw .malformed(name)
        }
        return String(did.dropFirst(KeyEventLog.didPrefix.count))
    }

    fileprivate func hexSignature() throws(Refusal) -> Signature {
        guard let text = self["signature"]?.string, let bytes = try? TextEncoding.hex.decode(text),
            let signature = try? Signature(rawRepresentation: bytes)
        else { throw .malformed("signature") }
        return signature
    }
}

extension Refusal {
    /// - Parameter member: a name in this code, never one from a request.
    static func malformed(_ member: String) -> Refusal {
        Refusal(.invalidRequest, "The \(member) is missing, unknown or malformed.")
    }
}
