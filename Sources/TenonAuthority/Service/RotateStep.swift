// SPDX-License-Identifier: Apache-2.0
internal import Tenon

extension AuthorityService {
    /// `POST /v1/device/rotate-key`: signed by the key that is to be replaced, and proven by the device's AK
    /// (decision: attested-rotation).
    func rotateKey(_ request: AuthorityRequest) async throws(Refusal) -> AuthorityAnswer {
        let signed = try await verify(try DeviceRequest(request), accepting: .presentOrPrevious)
        let object = try request.message()
        let message = try refusing(Refusal.init(form:)) { () throws(TenonError) in try RotateMessage(object) }
        guard message.appID == signed.device.app, message.deviceID == signed.device.id else {
            throw Refusal(.invalidRequest, "The body names another device than the headers.")
        }
        let newKey = try PublicKey(sent: message.keyText)
        let app = try app(message.appID)
        let vouching = try await vouching(signed, message, newKey, app, at: try origin(of: request))
        let now = clock.now()
        let outcome = try await waiting { () throws(TenonError) in
            let rotation = KeyRotation(
                app: app.id, deviceID: signed.device.id, signer: signed.key, newKey: newKey,
                newThumbprint: try newKey.thumbprint, vouching: vouching)
            return try await stores.devices.rotate(rotation, at: now)
        }
        switch outcome {
        case .rotated(let device), .current(let device):
            return try AuthorityAnswer([
                "status": "rotated", "device_id": .string(device.id), "key_thumbprint": .string(device.thumbprint),
                "effective_at": .integer(device.keyRotatedAt ?? now.seconds),
            ])
        case .refused(let refusal):
            // A device that lost an answer offers the same key again; another one offers whoever has a copy.
            if refusal == .superseded { try await alarm(signed.key) }
            throw Refusal(refusal)
        }
    }

    /// An attested device never becomes another where its app requires attestation.
    private func vouching(
        _ signed: VerifiedRequest, _ message: RotateMessage, _ newKey: PublicKey, _ app: AppRecord, at origin: String
    ) async throws(Refusal) -> KeyRotation.Vouching {
        let device = signed.device
        // What is so already is only said again.
        guard let attestation = device.attestation, device.level == .attested, device.publicKey != newKey else {
            return .nothing
        }
        guard let text = message.proof else {
            guard app.unprovenRotation == .markUnattested else {
                throw Refusal(
                    .invalidAttestation, "An attested device rotates its key with a proof only.",
                    cause: "rotation_unproven")
            }
            return .nothingAndMarked
        }
        let proof = try Proof(sent: text)
        let nonce = try refusing(Refusal.init(form:)) { () throws(TenonError) in
            try Digest.rotationNonce(
                origin: origin, appID: device.app, deviceID: device.id, oldKeyText: signed.key.sentText,
                newKeyText: message.keyText, timestamp: signed.headers.timestampText)
        }
        try await verify(proof, of: newKey, nonce: nonce, by: attestation, app, parent: message.parent)
        return .proof
    }

    /// By the AK that is recorded, or by one that holds a live certificate for the same EK and app.
    private func verify(
        _ proof: Proof, of key: PublicKey, nonce: Digest, by attestation: Device.Attestation, _ app: AppRecord,
        parent: [UInt8]?
    ) async throws(Refusal) {
        let serial = try await gate.run { () throws(Refusal) in
            try refusing(Refusal.init(attestation:)) { () throws(TenonError) -> [UInt8]? in
                guard try proof.evidence().certificates.isEmpty else {
                    return try verify(proof, of: key, nonce: nonce, app, parent: parent)
                }
                let ak = try PublicArea(dataRepresentation: attestation.akPublic)
                try proof.verify(key, nonce: nonce, policy: policy(.ak(ak), app, parent: parent))
                return nil
            }
        }
        guard let serial else { return }
        let record = try await waiting { () throws(TenonError) in try await stores.devices.certificate(serial: serial)
        }
        guard let record, record.isLive, record.app == app.id, record.ek == attestation.ek else {
            throw .certificate
        }
    }
}

/// The body of `POST /v1/device/rotate-key`. An `old_key_signature` is passed over: it names no device, app or time.
private struct RotateMessage {
    let appID: String
    let deviceID: String
    let keyText: String
    let proof: String?
    /// Of the parent of the new key: its Name.
    let parent: [UInt8]?

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
    }
}

extension Refusal {
    fileprivate init(_ refusal: KeyRotation.Refusal) {
        switch refusal {
        case .unknownDevice: self = .unknownDevice
        case .revoked: self = .deviceRevoked
        case .superseded: self.init(.rotationFailed, "Another rotation came first.")
        case .keyInUse: self.init(.rotationFailed, "The new key is, or was, in use: make another.")
        }
    }
}
