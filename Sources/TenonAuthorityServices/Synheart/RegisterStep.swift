// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority

/// The body of `POST /v1/device/register`. Members that name a device select nothing: `device_id` is ignored, and
/// `device_local_id` is only data (decision: same-key-again).
struct RegisterMessage {
    let appID: String
    let challenge: String
    /// The public key in the form in which it was sent, to which the evidence is bound.
    let keyText: String
    /// The text, of `proof` or of a runtime's `attestation`; nil if both are missing or say `none`.
    let proof: String?
    let activation: [UInt8]?
    let platform: String?
    let localID: String?
    let versions: NamedVersions

    /// The length of 16 KiB of CBOR in base64url (decision: body-limits).
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
        let native = try message.object("attestation").map { object throws(TenonError) in
            try NativeAttestation(object)
        }
        guard proof == nil || native == nil else { throw message.refusal("attestation", "stands beside proof") }
        self.proof = proof == "none" ? nil : proof ?? native?.proof
        activation = try message.bytes("activation_proof", sizes: 1...64)
        platform = try message.text("platform", maxBytes: 64)
        localID = try message.text("device_local_id", maxBytes: 128)
        versions = try NamedVersions(message)
    }
}

extension SynheartSteps {
    /// The order of the steps matters (decision: folded-activation).
    func register(_ request: AuthorityRequest) async throws(Refusal) -> AuthorityAnswer {
        let object = try request.message()
        let message = try refusing(Refusal.init(form:)) { () throws(TenonError) in try RegisterMessage(object) }
        let (app, settings) = try app(message.appID)
        let versions = try message.versions.checked(for: settings)
        let entry = try await engine.redeem(message.challenge, for: app, at: try engine.origin(of: request))
        let key = try PublicKey(sent: message.keyText)
        let evidence = KeyEvidence(
            challenge: message.challenge, keyText: message.keyText, proof: message.proof.map(SentProof.text),
            activation: message.activation, isDevelopment: try isDevelopment(request)
        ) { () throws(TenonError) in
            try Digest(bindingChallenge: message.challenge, toKeyText: message.keyText)
        }
        let assurance = try await engine.assurance(of: key, by: evidence, redeeming: entry, for: app)
        let device = try await engine.register(
            key, assurance, for: app, redeeming: message.challenge, platform: message.platform,
            localID: message.localID, signatureVersions: versions ?? [1])
        let isActive = device.state == .active
        // Before an operator has approved the device, it gets no certificate.
        let chain = isActive ? try await assurance.issue?(engine) : nil
        return try AuthorityAnswer([
            "device_id": .string(device.id), "status": isActive ? "registered" : "pending",
            "registered_at": .integer(device.registeredAt),
            "ak_certificate": chain.map { .array($0.map(JSON.bytes)) }, "signing": announcement(to: device, settings),
        ])
    }

    private func isDevelopment(_ request: AuthorityRequest) throws(Refusal) -> Bool {
        try request.header("X-Synheart-Dev-Mode").map { $0.lowercased() == "true" } ?? false
    }
}
