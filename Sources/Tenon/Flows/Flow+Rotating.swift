// SPDX-License-Identifier: Apache-2.0

/// What came of a rotation.
public struct Rotation: Hashable, Sendable {
    /// From when on the new key signs, in Unix seconds; nil is now.
    public let effectiveAt: Int64?
}

extension Flow {
    /// Offers a new key: the one that was offered before, if there is one that nobody accepted yet
    /// (decision: one-offered-key).
    func rotate() async throws(TenonError) -> Rotation {
        try requireRegistered()
        guard context.declaration.rotation != .none else { throw .noSuchStep }
        try await takeEffect()
        if let time = record.journal?.effectiveAt { return Rotation(effectiveAt: time) }
        let isAsked = record.signsByNext || record.journal != nil && context.declaration.settlements.first == .ask
        if isAsked, case .held = try await askAboutNext() { return Rotation(effectiveAt: nil) }
        return try await offer()
    }

    /// Offers the new key, signed by the current one, until there is an answer that counts.
    func offer() async throws(TenonError) -> Rotation {
        isOutcomeOpen = record.journal != nil || record.signsByNext
        var tries = Tries(self)
        while true {
            do throws(TenonError) {
                return try await tryRotation()
            } catch {
                if record.state == .registering { try step(to: .registered) }
                do throws(TenonError) {
                    try await tries.pause(after: error, self)
                } catch {
                    try? await save()
                    throw error
                }
            }
        }
    }

    func requireRegistered() throws(TenonError) {
        guard !record.isRevoked else { throw .revoked }
        guard record.state != .keyInvalid else { throw .invalidated(record.cause) }
        guard record.state == .registered, record.deviceID != nil else { throw .notRegistered }
    }

    /// A key that was accepted for a later time becomes the current one when that has come. Where it is not known when
    /// that is, the service is asked before it does.
    func takeEffect() async throws(TenonError) {
        switch record.acceptance(at: clock.bootMoment) {
        case .none, .waits: break
        case .over: try await promote(at: record.journal?.effectiveAt ?? serviceTime)
        case .unknown:
            try record.forgetEffectiveTime()
            try await save()
        }
    }

    private func tryRotation() async throws(TenonError) -> Rotation {
        guard let current = record.key(.current) else { throw .keyGeneration }
        let request: HTTPRequest
        if let journal = record.journal, journal.resend == .identical {
            request = try HTTPRequest(journalled: journal.message)
        } else {
            request = try await rotationRequest(from: current)
        }
        let wasOpen = isOutcomeOpen
        try step(to: .registering)
        try record.markSent()
        try await save()
        isOutcomeOpen = true
        let answer: HTTPResponse
        do throws(TenonError) {
            answer = try await exchange(request)
        } catch {
            if error.category != .unknown { isOutcomeOpen = wasOpen }
            throw error
        }
        return try await settle(profile.rotation(in: answer, to: request), answer, request, wasOpen)
    }

    func rotationRequest(from current: IdentityKey) async throws(TenonError) -> HTTPRequest {
        // First, so that a key is made in no other TPM than this one's.
        let signer = try await load(current)
        // A key that the service refused is not shown to it as the device's.
        if context.declaration.rotation == .signedByCurrent(isProven: true), !record.signsByNext {
            try await introduceAttestationKey(beside: current)
        }
        let next = try await rotationKey()
        let following = try await followingKey()
        var terms = RotationTerms(
            current: signer.publicKey, new: try await load(next).publicKey, following: following,
            slot: context.declaration.isSequenced ? record.journal?.slot ?? (record.lastSlot ?? -1) + 1 : nil,
            stamp: try stamp())
        try await prove(&terms, next)
        let isSignedByNext = context.declaration.rotation == .signedByNext
        let request = try await finish(
            profile.rotation(device, terms), by: isSignedByNext ? await load(next) : signer)
        try record.begin(
            .rotate(
                from: current.generation, to: next.generation, message: try request.kept(context.declaration),
                resend: context.declaration.resend, slot: terms.slot))
        return request
    }

    private func rotationKey() async throws(TenonError) -> IdentityKey {
        if let key = record.key(.next) {
            do throws(TenonError) {
                _ = try await vault.key(key.facts)
                return key
            } catch  where error.category == .gone && !key.isOffered {
                try record.drop(key.generation)
            }
        }
        return try await makeKey(.next)
    }

    private func followingKey() async throws(TenonError) -> PublicKey? {
        guard context.declaration.keys == .committedNext else { return nil }
        let key: IdentityKey
        if let made = record.key(.following) { key = made } else { key = try await makeKey(.following) }
        return try await load(key).publicKey
    }

    private func settle(
        _ answer: ServiceAnswer<RotationOutcome>, _ response: HTTPResponse, _ request: HTTPRequest, _ wasOpen: Bool
    ) async throws(TenonError) -> Rotation {
        switch answer {
        case .accepted(let outcome):
            try await profile.keep(request)
            return try await accepted(outcome, response)
        case .later(let error), .unclear(let error): throw error
        case .refused(let refusal): return try await refused(refusal, response, wasOpen)
        }
    }

    private func accepted(
        _ outcome: RotationOutcome, _ answer: HTTPResponse
    ) async throws(TenonError) -> Rotation {
        isOutcomeOpen = false
        guard let effective = outcome.effectiveAt,
            let wait = ClockRule.wait(until: effective, in: answer, said: outcome.answeredAt)
        else {
            try await promote(at: serviceTime)
            return Rotation(effectiveAt: nil)
        }
        let time = Int64(effective)
        let moment = answer.received.bootMilliseconds &+ wait.milliseconds
        try record.accept(effectiveAt: time, from: BootMoment(milliseconds: moment, boot: clock.boot))
        try record.move(to: .registered)
        try await save()
        return Rotation(effectiveAt: time)
    }

    /// What a refusal comes to: only one for a wrong signature or an unknown key says which key the service holds.
    private func refused(
        _ refusal: ServiceRefusal, _ answer: HTTPResponse, _ wasOpen: Bool
    ) async throws(TenonError) -> Rotation {
        switch refusal.verdict {
        case .keyRefused:
            // An earlier try may have been taken: then it is the new key that is held.
            if try await tryNext(after: refusal.error) { return Rotation(effectiveAt: nil) }
        case .revoked: try await confirmRevoked(refusal.error)
        case .clockSkew: try await learnClock(refusal, answer)
        default: break
        }
        isOutcomeOpen = wasOpen
        // The first message with this key was refused, and there is no other: the old key stays. One that may not be
        // made anew stays for ever (decision: one-message).
        if !wasOpen, context.declaration.resend == .fresh, let verdict = refusal.verdict,
            ![.nonceReplay, .clockSkew, .keyRefused].contains(verdict)
        {
            record.settle()
        }
        throw refusal.error
    }

    /// The service holds the new key: one write says so (W2, W3).
    func promote(at time: Int64) async throws(TenonError) {
        try record.promote(at: time)
        record.promoteFollowing()
        isOutcomeOpen = false
        if record.state == .registering { try record.move(to: .registered) }
        try await save()
    }
}
