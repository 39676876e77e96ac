// SPDX-License-Identifier: Apache-2.0

// An attestation key that was lost is made anew, and a certificate of one grows old. The service learns of either by an
// activation of its own, or by the certificate of its CA (decision: ak-certificate).
extension Flow {
    /// What a device that is attested does now and then. That it cannot costs the next attestation, never the identity.
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

    /// Has an attestation key that the service knows.
    ///
    /// - Parameter isRenewed: whether a certificate of it is to be good for long.
    func introduceAttestationKey(beside key: IdentityKey, isRenewed: Bool = false) async throws(TenonError) {
        guard record.attestation == .attested else { return }
        do throws(TenonError) {
            _ = try await attestationKey(beside: key)
        } catch {
            guard context.declaration.isAttestationRequired else { return }
            throw .attestation(error)
        }
        guard let ak = record.attestationKey else { return }
        let isDue = isRenewed && ak.certificate?.isDue(at: serviceTime) == true
        // The endorsement key's certificate is asked for only where it has to be shown.
        if context.declaration.attestation == .activation && ak.isActivated && !isDue { return }
        guard let attester = try await attester(beside: key) else { return }
        switch context.declaration.attestation {
        case .none: break
        case .certificate where isDue: try await enrol(attester.facts, attester.area)
        case .certificate: try await certify(attester)
        case .activation: try await registerAgain(key, attester)
        }
    }

    /// Registers the key that is registered, which changes no state: a lost answer is repaired by the next one.
    private func registerAgain(_ key: IdentityKey, _ attester: Attester) async throws(TenonError) {
        let challenge = try await challenge(attester)
        var terms = RegistrationTerms(key: try await load(key).publicKey, challenge: challenge?.value)
        let request = try await registration(&terms, key, attester, challenge)
        let answer = try await exchange(request)
        switch profile.registration(in: answer, to: request) {
        case .accepted(.registered(let id, let certificates)) where id == record.deviceID:
            record.attestationKey?.isActivated = true
            remember(attester.endorsement)
            try await save()
            await keepIssued(certificates)
        case .accepted:
            throw TenonError(.serviceAnswer, message: "The service takes this device for another one.")
        case .refused(let refusal):
            if refusal.verdict == .revoked { try await confirmRevoked(refusal.error) }
            throw refusal.error
        case .later(let error), .unclear(let error): throw error
        }
    }
}
