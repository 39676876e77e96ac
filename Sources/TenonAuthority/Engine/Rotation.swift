// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// The evidence with which a device shows that its new key is in the same TPM.
package struct RotationEvidence: Sendable {
    /// base64url, as it was sent; nil if none was.
    package var proof: String?
    /// The Name of the new key's parent, if the device sends it.
    package var parent: [UInt8]?
    /// The nonce that the proof must contain.
    package var nonce: @Sendable () throws(TenonError) -> Digest

    package init(
        proof: String?, parent: [UInt8]?, nonce: @escaping @Sendable () throws(TenonError) -> Digest
    ) {
        self.proof = proof
        self.parent = parent
        self.nonce = nonce
    }
}

extension AuthorityEngine {
    /// Replaces the key that signed with a new one (decision: attested-rotation).
    ///
    /// - Parameter signatureVersions: those of the device from now on; nil keeps them.
    /// - Returns: the device as it is now, and the time of the request.
    package func rotate(
        _ signed: VerifiedRequest, to newKey: PublicKey, by evidence: RotationEvidence, for app: AppRecord,
        signatureVersions: [Int]? = nil
    ) async throws(Refusal) -> (device: Device, time: AuthorityInstant) {
        let vouching = try await vouching(signed, newKey, evidence, app)
        let now = clock.now()
        let outcome = try await waiting { () throws(TenonError) in
            var rotation = KeyRotation(
                app: app.id, deviceID: signed.device.id, signer: signed.key, newKey: newKey,
                newThumbprint: try newKey.thumbprint, vouching: vouching)
            rotation.signatureVersions = signatureVersions
            return try await stores.devices.rotate(rotation, at: now)
        }
        switch outcome {
        case .rotated(let device), .current(let device): return (device, now)
        case .refused(let refusal):
            // A device that lost an answer offers the same key again; a different key comes from somebody with a copy.
            if refusal == .superseded { try await alarm(signed.key) }
            throw Refusal(refusal)
        }
    }

    /// An attested device stays attested if its app requires attestation.
    private func vouching(
        _ signed: VerifiedRequest, _ newKey: PublicKey, _ evidence: RotationEvidence, _ app: AppRecord
    ) async throws(Refusal) -> KeyRotation.Vouching {
        let device = signed.device
        // A key that the device has already needs no new evidence.
        guard let attestation = device.attestation, device.level == .attested, device.publicKey != newKey else {
            return .nothing
        }
        guard let text = evidence.proof else {
            guard app.unprovenRotation == .markUnattested else {
                throw Refusal(
                    .invalidAttestation, "An attested device must prove its new key.",
                    cause: "rotation_unproven")
            }
            return .nothingAndMarked
        }
        let proof = try Proof(sent: text)
        let nonce = try refusing(Refusal.init(form:), evidence.nonce)
        try await verify(proof, of: newKey, nonce: nonce, by: attestation, app, parent: evidence.parent)
        return .proof
    }

    /// Verifies a proof by the recorded AK, or by one with a live certificate for the same EK and app.
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

extension Refusal {
    fileprivate init(_ refusal: KeyRotation.Refusal) {
        switch refusal {
        case .unknownDevice: self = .unknownDevice
        case .revoked: self = .deviceRevoked
        case .superseded: self.init(.rotationFailed, "Another rotation came first.")
        case .keyInUse: self.init(.rotationFailed, "The new key is or was in use. Make another.")
        }
    }
}
