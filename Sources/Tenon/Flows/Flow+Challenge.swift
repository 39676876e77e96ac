// SPDX-License-Identifier: Apache-2.0

/// A challenge, and until when it is good.
struct LiveChallenge {
    let value: ServiceChallenge
    let end: ContinuousClock.Instant

    func check(_ now: ContinuousClock.Instant) throws(TenonError) {
        guard now < end else {
            throw TenonError(.challengeExpired, message: "The challenge is too old by now.")
        }
    }
}

/// The attestation key that a registration shows.
struct Attester {
    let facts: KeyFacts
    /// Of the endorsement key, leaf first; shown only where the challenge is to come with a credential.
    let endorsement: [[UInt8]]
    let area: PublicArea
    /// The Name of the signing key's parent.
    let parent: [UInt8]?
}

extension Flow {
    /// A fresh challenge; nil for a service that has none.
    func challenge(_ attester: Attester?) async throws(TenonError) -> LiveChallenge? {
        guard let rule = context.declaration.challenge else { return nil }
        let isActivated = context.declaration.attestation == .activation
        let offer = attester.flatMap {
            isActivated
                ? AttestationOffer(
                    endorsementCertificates: $0.endorsement, attestationKey: $0.area, parent: $0.parent) : nil
        }
        let answer = try await exchange(try profile.challengeRequest(device, offer))
        let challenge: ServiceChallenge
        switch profile.challenge(in: answer) {
        case .accepted(let value): challenge = value
        case .refused(let refusal): throw refusal.error
        case .later(let error), .unclear(let error): throw error
        }
        if isActivated, challenge.credential == nil, context.declaration.isAttestationRequired {
            throw TenonError(
                .attestationUnavailable, message: "The service gives no credential, and no device is shown without.")
        }
        let life = min(challenge.life ?? rule.longestLife, rule.longestLife) - rule.margin
        // The service's clock may have started at any time since the request left.
        let live = LiveChallenge(value: challenge, end: answer.sent.continuous + life)
        try live.check(clock.now)
        return live
    }

    /// What will attest; nil where nothing does, or need not.
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

    /// Adds the proof, and what answers the credential.
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

    /// The new key of a rotation, certified by the device's attestation key.
    func prove(_ terms: inout RotationTerms, _ key: IdentityKey) async throws(TenonError) {
        guard context.declaration.rotation == .signedByCurrent(isProven: true), record.attestation == .attested,
            let current = record.key(.current)
        else { return }
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
    /// What an attestation failed of: of this device for now, or of what it is.
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
