// SPDX-License-Identifier: Apache-2.0

/// The attestation key that a registration shows.
struct Attester {
    let facts: KeyFacts
    /// The endorsement key's certificates, leaf first. They are shown only if the challenge comes with a credential.
    let endorsement: [[UInt8]]
    let area: PublicArea
    /// The Name of the signing key's parent.
    let parent: [UInt8]?
}

extension Flow {
    /// The attestation key for a registration; nil if the service wants none, or if none can be had and none is
    /// required.
    func attester(beside key: IdentityKey) async throws(TenonError) -> Attester? {
        guard context.declaration.attestation != .none else { return nil }
        do throws(TenonError) {
            let endorsement =
                context.declaration.attestation == .activation ? try await endorsementCertificates() : []
            let (facts, area) = try await attestationKey(beside: key)
            return Attester(facts: facts, endorsement: endorsement, area: area, parent: key.facts.parent)
        } catch {
            guard context.declaration.isAttestationRequired else { return nil }
            throw .attestation(error)
        }
    }

    /// Adds the proof and the activation that answers the credential.
    func prove(_ terms: inout RegistrationTerms, _ key: IdentityKey, _ attester: Attester?) async throws(TenonError) {
        guard let attester else { return }
        do throws(TenonError) {
            if let challenge = terms.challenge, let credential = challenge.credential {
                let activation = Activation(
                    origin: context.origin, appID: context.name.appID, challenge: challenge.text,
                    keyText: profile.text(of: terms.key))
                guard let certificate = attester.endorsement.first else { throw .noSuchStep }
                terms.activation = try await vault.activate(
                    activation, with: credential, certificate: certificate, by: attester.facts)
            }
            terms.proof = try await vault.proof(
                of: key.facts, by: attester.facts, qualifyingData: profile.qualifyingData(device, terms),
                certificates: await attestationCertificates())
        } catch {
            guard context.declaration.isAttestationRequired else { return }
            throw .attestation(error)
        }
    }

    /// Whether the device's attestation key certifies the new key of a rotation.
    var isRotationProven: Bool {
        context.declaration.rotation == .signedByCurrent(isProven: true) && record.attestation == .attested
    }

    /// The new key of a rotation, certified by the device's attestation key.
    func prove(_ terms: inout RotationTerms, _ key: IdentityKey) async throws(TenonError) {
        guard isRotationProven, let current = record.key(.current) else { return }
        do throws(TenonError) {
            let (facts, _) = try await attestationKey(beside: current)
            terms.proof = try await vault.proof(
                of: key.facts, by: facts, qualifyingData: profile.qualifyingData(device, terms),
                certificates: await attestationCertificates())
            terms.parent = key.facts.parent
        } catch {
            // A device that was attested never becomes one that is not (decision: never-weaker).
            throw .attestation(error)
        }
    }
}

extension TenonError {
    /// The error for an attestation that failed: unavailable for now, or failed for good.
    static func attestation(_ error: TenonError) -> TenonError {
        guard !error.isOfAttestationCA else { return error }
        let isUnavailable = [.unavailable, .transient, .permission, .auth].contains(error.category)
        var whole = TenonError(
            isUnavailable ? .attestationUnavailable : .attestationFailed,
            message: "The attestation cannot be made: \(error.message) (\(error.code))")
        whole.cause = error.code
        return whole
    }
}

// An attestation key that was lost is made anew, and a certificate of one grows old. The service learns of either by an
// activation of its own, or by the certificate of its CA (decision: ak-certificate).
extension Flow {
    /// Renews the attestation when it is due. A failure costs the next attestation, never the identity.
    func renewAttestation() async throws(TenonError) {
        guard record.attestation == .attested, context.declaration.attestation != .none,
            let current = record.key(.current)
        else { return }
        try await load(current)
        do throws(TenonError) {
            try await introduceAttestationKey(beside: current, isRenewed: true)
        } catch  where error.category != .gone {}
        guard !record.isRevoked else { throw .revoked }
    }

    /// Makes sure that the device has an attestation key that the service knows.
    ///
    /// - Parameter isRenewed: whether its certificate is renewed before it ends.
    func introduceAttestationKey(beside key: IdentityKey, isRenewed: Bool = false) async throws(TenonError) {
        guard record.attestation == .attested else { return }
        do throws(TenonError) {
            _ = try await attestationKey(beside: key)
        } catch {
            // What befell it may have befallen the key.
            try await load(key)
            guard context.declaration.isAttestationRequired else { return }
            throw .attestation(error)
        }
        guard let ak = record.attestationKey else { return }
        let isDue = isRenewed && ak.certificate?.isDue(at: serviceTime) == true
        // The endorsement key's certificate is asked for only where it has to be shown.
        if context.declaration.attestation == .activation && ak.isActivated && !isDue { return }
        // Nothing is sent for a key that is lost.
        try await load(key)
        guard let attester = try await attester(beside: key) else { return }
        switch context.declaration.attestation {
        case .none: break
        case .certificate where isDue: try await enrol(attester.facts, attester.area)
        case .certificate: try await certify(attester)
        case .activation: try await registerAgain(key, attester)
        }
    }

    /// Registers the key that is registered, which changes no state: a lost answer is repaired by the next one.
    func registerAgain(_ key: IdentityKey, _ attester: Attester) async throws(TenonError) {
        let challenge = try await challenge(attester)
        var terms = RegistrationTerms(key: try await load(key).publicKey, challenge: challenge?.value)
        let request = try await registration(&terms, key, attester, challenge)
        let answer = try await exchange(request)
        try await profile.registration(in: answer, to: request).settled(
            accepted: { outcome throws(TenonError) in
                guard case .registered(let id, let certificates) = outcome, id == record.deviceID else {
                    throw TenonError(.serviceAnswer, message: "The service identifies this device as another one.")
                }
                record.attestationKey?.isActivated = true
                remember(attester.endorsement)
                try await save()
                await keepIssued(certificates)
            },
            refused: { refusal throws(TenonError) in
                if refusal.verdict == .revoked { try await confirmRevoked(refusal.error) }
                throw refusal.error
            })
    }
}

/// A proof that was asked for, and what it is about.
public struct IdentityAttestation: Sendable {
    /// The TPM's statement about the key.
    public let proof: Proof
    /// The key that the proof is about: the one that signs.
    public let publicKey: PublicKey
    /// The key that made the proof. A verifier must know it from elsewhere: what it says about itself proves
    /// nothing.
    public let attestationKey: PublicArea
}

extension DeviceIdentity {
    /// Has the TPM prove, to a verifier who gave a nonce, that the key of this identity lives in it. Nothing is sent.
    ///
    /// No certificate goes with it: that of the attestation key is shown to its issuer only (decision: own-ak).
    ///
    /// - Throws: ``TenonError/Code/notRegistered`` and what else stands against signing;
    ///   ``TenonError/Code/attestationUnavailable`` for an identity without an attestation key.
    public func attest(nonce: Digest) async throws(TenonError) -> IdentityAttestation {
        let key = try await signingKey().key
        let facts = try await context.disk.run { () throws(TenonError) in try self.record()?.attestationKey?.facts }
        guard let ak = facts else { throw .noAttestationKey }
        let publicKey = try await context.vault.unseenKey(key.facts).publicKey
        let area = try await context.vault.publicArea(ofAttestationKey: ak)
        let proof = try await context.vault.proof(
            of: key.facts, by: ak, qualifyingData: nonce.rawRepresentation, certificates: [])
        return IdentityAttestation(proof: proof, publicKey: publicKey, attestationKey: area)
    }
}

extension TenonError {
    fileprivate static let noAttestationKey = TenonError(
        .attestationUnavailable, message: "This identity has no attestation key. It was registered without one.")
}
