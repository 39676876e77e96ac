// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// The body of `POST /v1/device/register`. Members that name a device select nothing: `device_id` is passed over, and
/// `device_local_id` is data (decision: same-key-again).
struct RegisterMessage {
    let appID: String
    let challenge: String
    /// The public key as it was sent: what is bound.
    let keyText: String
    /// The text; nil where there is none, or it is `none`.
    let proof: String?
    let activation: [UInt8]?
    let platform: String?
    let localID: String?

    /// base64url of 16 KiB of CBOR (decision: body-limits).
    private static let maxProof = 22_000

    init(_ message: MessageObject) throws(TenonError) {
        guard let appID = try message.text("app_id", maxBytes: 200) else { throw message.missing("app_id") }
        guard let challenge = try message.text("challenge", maxBytes: 200), !challenge.isEmpty else {
            throw message.missing("challenge")
        }
        guard let keyText = try message.text("public_key", maxBytes: 200), !keyText.isEmpty else {
            throw message.missing("public_key")
        }
        let proof = try message.text("proof", maxBytes: RegisterMessage.maxProof)
        self.appID = appID
        self.challenge = challenge
        self.keyText = keyText
        self.proof = proof == "none" ? nil : proof
        activation = try message.bytes("activation_proof", sizes: 1...64)
        platform = try message.text("platform", maxBytes: 64)
        localID = try message.text("device_local_id", maxBytes: 128)
    }
}

extension PublicKey {
    /// A key as it is sent: base64 of its SubjectPublicKeyInfo, and so one text for each key.
    init(sent text: String) throws(Refusal) {
        self = try refusing(Refusal.init(form:)) { () throws(TenonError) in
            let bytes = try TextEncoding.base64.decode(text)
            return try PublicKey(derRepresentation: bytes)
        }
    }

    /// The same text.
    var sentText: String { TextEncoding.base64.encode(derRepresentation) }
}
