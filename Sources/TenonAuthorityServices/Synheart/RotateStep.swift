// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority

/// The body of `POST /v1/device/rotate-key`. An `old_key_signature` is ignored, because it covers no device, app or
/// time.
private struct RotateMessage {
    let appID: String
    let deviceID: String
    let keyText: String
    let proof: String?
    /// The Name of the new key's parent.
    let parent: [UInt8]?
    let versions: NamedVersions

    init(_ message: MessageObject) throws(TenonError) {
        guard let appID = try message.text("app_id", maxBytes: 200) else { throw message.missing("app_id") }
        guard let deviceID = try message.text("device_id", maxBytes: 128) else { throw message.missing("device_id") }
        guard let keyText = try message.text("new_public_key", maxBytes: 200) else {
            throw message.missing("new_public_key")
        }
        self.appID = appID
        self.deviceID = deviceID
        self.keyText = keyText
        proof = try message.text("proof", maxBytes: 22_000)
        parent = try message.bytes("parent_name", sizes: KeyParent.nameSize...KeyParent.nameSize)
        versions = try NamedVersions(message)
    }
}

extension SynheartSteps {
    /// `POST /v1/device/rotate-key`: signed by the key that is replaced, with a proof of the new key by the device's AK
    /// (decision: attested-rotation).
    func rotateKey(_ request: AuthorityRequest) async throws(Refusal) -> AuthorityAnswer {
        let sent = try own(request)
        let signed = try await verify(sent, accepting: .presentOrPrevious)
        let object = try request.message()
        let message = try refusing(Refusal.init(form:)) { () throws(TenonError) in try RotateMessage(object) }
        guard message.appID == signed.device.app, message.deviceID == signed.device.id else {
            throw Refusal(.invalidRequest, "The body names another device than the headers.")
        }
        let newKey = try PublicKey(sent: message.keyText)
        let (app, settings) = try app(message.appID)
        let versions = try message.versions.checked(for: settings)
        let origin = try engine.origin(of: request)
        let evidence = RotationEvidence(proof: message.proof, parent: message.parent) { () throws(TenonError) in
            try Digest.rotationNonce(
                origin: origin, appID: signed.device.app, deviceID: signed.device.id,
                oldKeyText: signed.key.sentText, newKeyText: message.keyText, timestamp: sent.timestampText)
        }
        let (device, time) = try await engine.rotate(
            signed, to: newKey, by: evidence, for: app, signatureVersions: versions)
        return try AuthorityAnswer([
            "status": "rotated", "device_id": .string(device.id), "key_thumbprint": .string(device.thumbprint),
            "effective_at": .integer(device.keyRotatedAt ?? time.seconds),
            "signing": announcement(to: device, settings),
        ])
    }
}
