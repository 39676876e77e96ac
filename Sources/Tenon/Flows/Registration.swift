// SPDX-License-Identifier: Apache-2.0

/// The result of a registration.
public struct Registration: Hashable, Sendable {
    /// Whether something was sent.
    public enum Status: Hashable, Sendable {
        case registered
        /// It was before; nothing was sent.
        case alreadyRegistered
    }

    /// Whether the device was registered by this call.
    public let status: Status
    /// The service's id of the device.
    public let deviceID: String
}

/// A challenge, and the moment until which it is valid.
struct LiveChallenge {
    let value: ServiceChallenge
    let end: ContinuousClock.Instant

    func check(_ now: ContinuousClock.Instant) throws(TenonError) {
        guard now < end else {
            throw TenonError(.challengeExpired, message: "The challenge has expired.")
        }
    }
}

extension Flow {
    func register() async throws(TenonError) -> Registration {
        if let done = try await alreadyRegistered() { return done }
        guard vault.isHardware || Build.isDev else {
            throw TenonError(.attestationUnavailable, message: "Registration needs a hardware-backed key.")
        }
        return try await retrying(
            tryRegistration, endTry: { () throws(TenonError) in try endTry() }, endAll: { await restoreInvalid() })
    }

    private func alreadyRegistered() async throws(TenonError) -> Registration? {
        guard !record.isRevoked else { throw .revoked }
        switch record.state {
        case .registered:
            let (id, key) = try registered()
            try await load(key)
            return Registration(status: .alreadyRegistered, deviceID: id)
        case .keyInvalid:
            try await beginAnew()
            context.status.show(IdentityStatus(record))
            guard record.state == .registered, let id = record.deviceID else { return nil }
            return Registration(status: .alreadyRegistered, deviceID: id)
        default: return nil
        }
    }

    /// Continues with the key that the service holds, if its TPM is back. Otherwise begins a new identity, of which
    /// nothing is written before its message leaves: a try that ends earlier leaves the identity as it was.
    private func beginAnew() async throws(TenonError) {
        if try await takeUpAbandonedKey() {
            // If the service cannot be asked, what was open stays open.
            if record.reason == .rotationPending { _ = try? await adoptHeldKey() }
            return
        }
        if try await adoptHeldKey() { return }
        (invalid, isProvisional) = (record, true)
        try record.wipe(deviceLocalID: record.reason == .foreignTPM ? RequestHeaders.makeNonce() : nil)
    }

    /// After a try that began a new identity and certainly failed: what it began goes to the attic, and the old
    /// identity is restored.
    private func restoreInvalid() async {
        guard var before = invalid, !isOutcomeOpen, record.journal?.awaitsApproval != true else { return }
        before.lastGeneration = max(before.lastGeneration, record.lastGeneration)
        (invalid, isProvisional) = (nil, false)
        record = before
        try? await save()
        let held = held
        _ = try? await context.onDisk { store throws(TenonError) in try store.recover(held) }
    }

    /// A try that ends without success: what is known about the wire stays in the journal (decision: open-outcome).
    private func endTry() throws(TenonError) {
        switch record.state {
        case .challengeReceived, .keyReady: try step(to: .unregistered, by: .abandon)
        case .registering: try step(to: .unregistered)
        default: break
        }
    }

    private func tryRegistration() async throws(TenonError) -> Registration {
        let key = try await registrationKey()
        if let journal = record.journal, journal.resend == .identical {
            try step(to: .challengeReceived)
            try step(to: .keyReady)
            return try await settle(
                HTTPRequest(journalled: journal.message), isProven: record.attestation == .attested)
        }
        let next = try await nextKeyIfCommitted()
        let attester = try await attester(beside: key)
        try await certify(attester)
        let challenge = try await challenge(attester)
        try step(to: .challengeReceived)
        var terms = RegistrationTerms(
            key: try await load(key).publicKey, next: next, challenge: challenge?.value,
            slot: context.declaration.isSequenced ? (record.lastSlot ?? -1) + 1 : nil)
        try step(to: .keyReady)
        let request = try await registration(&terms, key, attester, challenge)
        try record.begin(
            .register(
                key.generation, committing: next == nil ? nil : record.key(.next)?.generation,
                message: try request.kept(context.declaration), resend: context.declaration.resend, slot: terms.slot))
        return try await settle(request, isProven: terms.proof != nil, by: attester)
    }

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
        let challenge = try profile.challenge(in: answer).get()
        if isActivated, challenge.credential == nil, context.declaration.isAttestationRequired {
            throw TenonError(
                .attestationUnavailable, message: "The service returned no credential, so attestation cannot continue.")
        }
        let life = min(challenge.life ?? rule.longestLife, rule.longestLife) - rule.margin
        // The service's clock may have started at any time since the request left.
        let live = LiveChallenge(value: challenge, end: answer.sent.continuous + life)
        try live.check(clock.now)
        return live
    }

    /// The message that registers a key, with its proof.
    func registration(
        _ terms: inout RegistrationTerms, _ key: IdentityKey, _ attester: Attester?, _ challenge: LiveChallenge?
    ) async throws(TenonError) -> HTTPRequest {
        try await prove(&terms, key, attester)
        let request = try await finish(profile.registration(device, terms), by: key)
        // Making the proof may have taken long.
        if let challenge { try challenge.check(clock.now) }
        return request
    }

    private func settle(
        _ request: HTTPRequest, isProven: Bool, by attester: Attester? = nil
    ) async throws(TenonError) -> Registration {
        let (answer, wasOpen) = try await send(request)
        return try await profile.registration(in: answer, to: request).settled(
            accepted: { outcome throws(TenonError) in
                record.follow(profile.signing(in: answer), mayWiden: true)
                return try await accepted(outcome, to: request, isProven, attester)
            },
            refused: { refusal throws(TenonError) in
                isOutcomeOpen = wasOpen
                if refusal.verdict == .rejected { try await reject() }
                throw refusal.error
            })
    }

    private func accepted(
        _ outcome: RegistrationOutcome, to request: HTTPRequest, _ isProven: Bool, _ attester: Attester?
    ) async throws(TenonError) -> Registration {
        switch outcome {
        case .registered(let id, let certificates):
            if let attester, isProven { remember(attester.endorsement) }
            try await keepInLog(request)
            let registration = try await registered(id, isProven)
            await keepIssued(certificates)
            return registration
        case .pending:
            try record.awaitApproval()
            isOutcomeOpen = false
            throw .pending
        case .rejected:
            try await reject()
            throw TenonError(.registrationRejected, message: "The service rejected this device.")
        }
    }

    private func registered(
        _ id: String, _ isProven: Bool
    ) async throws(TenonError) -> Registration {
        guard IdentityName.isDeviceID(id) else {
            throw TenonError(.serviceAnswer, message: "The service returned a device id that no header can hold.")
        }
        record.deviceID = id
        record.registeredAt = serviceTime
        if record.ekID == nil { record.ekID = try? await vault.endorsementKeyID() }
        record.attestation = isProven ? .attested : .unattested
        record.attestationKey?.isActivated = isProven
        record.settle()
        try record.move(to: .registered)
        try await save()
        return Registration(status: .registered, deviceID: id)
    }

    /// The service has refused for good: the key is of no use and goes to the attic (decision: definite-refusal).
    private func reject() async throws(TenonError) {
        isOutcomeOpen = false
        try endTry()
        try record.reject()
        try await save()
        // The file follows, now or with the next operation.
        let held = held
        _ = try? await context.onDisk { store throws(TenonError) in try store.recover(held) }
    }
}

extension IdentityRecord {
    /// The keys of an identity that is not registered have no use any more.
    mutating func forgetKeys() { (keys, journal, attestation, lastSlot, logTail) = ([], nil, nil, nil, nil) }
}

extension HTTPRequest {
    /// The part of the message that the journal keeps while it is under way: all bytes of a message that must be sent
    /// again unchanged; otherwise its SHA-256, because a proof must not lie on a disk and is never sent twice.
    func kept(_ declaration: ServiceDeclaration) throws(TenonError) -> [UInt8] {
        let bytes = try journalled()
        return declaration.resend == .identical ? bytes : try Digest(hashing: bytes).rawRepresentation
    }
}
