// SPDX-License-Identifier: Apache-2.0

/// The result of a rotation.
public struct Rotation: Hashable, Sendable {
    /// When the new key starts to sign, in Unix seconds; nil means now.
    public let effectiveAt: Int64?
}

extension Flow {
    /// Offers a new key: the one that was offered before, if the service has not accepted it yet (decision:
    /// one-offered-key).
    func rotate() async throws(TenonError) -> Rotation {
        try registered()
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
        return try await retrying(
            tryRotation,
            endTry: { () throws(TenonError) in if record.state == .registering { try step(to: .registered) } })
    }

    /// The device id, and the key that the service holds as far as is known.
    @discardableResult
    func registered() throws(TenonError) -> (deviceID: String, key: IdentityKey) {
        guard !record.isRevoked else { throw .revoked }
        guard record.state != .keyInvalid else { throw .invalidated(record.cause) }
        guard record.state == .registered, let id = record.deviceID, let key = record.key(.current) else {
            throw .notRegistered
        }
        return (id, key)
    }

    /// Makes a key that was accepted for a later time the current one when that time has come. If the time is not known
    /// any more, the service is asked first.
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
        let current = try registered().key
        let request: HTTPRequest
        if let journal = record.journal, journal.resend == .identical {
            request = try HTTPRequest(journalled: journal.message)
        } else {
            request = try await rotationRequest(from: current)
        }
        let (answer, wasOpen) = try await send(request)
        return try await profile.rotation(in: answer, to: request).settled(
            accepted: { outcome throws(TenonError) in
                record.follow(profile.signing(in: answer), mayWiden: true)
                try await keepInLog(request)
                return try await accepted(outcome, answer)
            },
            refused: { refusal throws(TenonError) in try await refused(refusal, answer, wasOpen) })
    }

    func rotationRequest(from current: IdentityKey) async throws(TenonError) -> HTTPRequest {
        // A key that the service has refused is not presented to it as the device's key.
        let isPresented = isRotationProven && !record.signsByNext
        // Loaded first, so that the new key is made in the TPM of the current one. The attestation key shows that, too.
        let signer = try await load(current, toSign: isPresented)
        try await checkLog()
        if isPresented { try await introduceAttestationKey(beside: current) }
        let next = try await rotationKey()
        let following = try await followingKey()
        var terms = RotationTerms(
            current: signer.publicKey, new: try await load(next).publicKey, following: following,
            slot: context.declaration.isSequenced ? record.journal?.slot ?? (record.lastSlot ?? -1) + 1 : nil,
            prior: record.logTail, stamp: try stamp())
        try await prove(&terms, next)
        let isSignedByNext = context.declaration.rotation == .signedByNext
        let request = try await finish(profile.rotation(device, terms), by: isSignedByNext ? next : current)
        try record.begin(
            .rotate(
                from: current.generation, to: next.generation,
                committing: following == nil ? nil : record.key(.following)?.generation,
                message: try request.kept(context.declaration), resend: context.declaration.resend, slot: terms.slot))
        return request
    }

    private func rotationKey() async throws(TenonError) -> IdentityKey {
        if let key = record.key(.next) {
            do throws(TenonError) {
                _ = try await vault.key(key.facts)
                return key
            } catch  where error.category == .gone && !key.isOffered && !key.isCommitted {
                try record.drop(key.generation)
            }
        }
        return try await makeKey(.next)
    }

    private func followingKey() async throws(TenonError) -> PublicKey? {
        guard context.declaration.keys == .committedNext else { return nil }
        return try await load(keyToCommit(.following)).publicKey
    }

    private func accepted(
        _ outcome: RotationOutcome, _ answer: HTTPResponse
    ) async throws(TenonError) -> Rotation {
        isOutcomeOpen = false
        guard let effective = outcome.effectiveAt,
            let wait = ClockRule.wait(until: effective, in: answer, bodyTime: outcome.answeredAt)
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

    /// Handles a refusal. Only a refusal of the signature or of the key says which key the service holds.
    private func refused(
        _ refusal: ServiceRefusal, _ answer: HTTPResponse, _ wasOpen: Bool
    ) async throws(TenonError) -> Rotation {
        switch refusal.verdict {
        case .keyRefused:
            // The service may have accepted an earlier try, and hold the new key.
            if try await tryNext(after: refusal.error) { return Rotation(effectiveAt: nil) }
        case .revoked: try await confirmRevoked(refusal.error)
        case .clockSkew: try await learnClock(refusal, answer)
        case .numberRefused: try await askForLog()
        default: break
        }
        isOutcomeOpen = wasOpen
        // The first message with this key was refused, and there is no other: the old key stays. One that may not be
        // made again stays for ever (decision: one-message).
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
        // The service accepted a message that the new key signed.
        if context.declaration.rotation == .signedByNext { record.retirePrevious() }
        isOutcomeOpen = false
        if record.state == .registering { try record.move(to: .registered) }
        try await save()
    }
}

extension Flow {
    func reportCompromise() async throws(TenonError) -> Rotation {
        try registered()
        record.reportCompromise()
        try await save()
        let rotation = try await rotate()
        // The first rotation may only have settled a key that was offered before.
        guard record.isCompromised, rotation.effectiveAt == nil else { return rotation }
        return try await rotate()
    }
}
