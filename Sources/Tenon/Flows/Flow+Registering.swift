// SPDX-License-Identifier: Apache-2.0

/// What came of a registration.
public struct Registration: Hashable, Sendable {
    public enum Status: Hashable, Sendable {
        case registered
        /// It was before; nothing was sent.
        case alreadyRegistered
    }

    public let status: Status
    /// What the service calls the device.
    public let deviceID: String
}

extension Flow {
    func register() async throws(TenonError) -> Registration {
        if let done = try await alreadyRegistered() { return done }
        guard vault.isHardware || Build.isDev else {
            throw TenonError(.attestationUnavailable, message: "A key in the memory of a process is no identity.")
        }
        var tries = Tries(self)
        while true {
            do throws(TenonError) {
                return try await tryRegistration()
            } catch {
                try endTry()
                do throws(TenonError) {
                    try await tries.pause(after: error, self)
                } catch {
                    await restoreInvalid()
                    // A crash here would say the same as this, so if it cannot be written nothing is lost.
                    try? await save()
                    throw error
                }
            }
        }
    }

    private func alreadyRegistered() async throws(TenonError) -> Registration? {
        guard !record.isRevoked else { throw .revoked }
        switch record.state {
        case .registered:
            guard let id = record.deviceID, let key = record.key(.current) else { throw .keyGeneration }
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

    /// With the key that the service holds, where its TPM is back; else with another one, of which nothing is written
    /// before its message leaves: a try that ends earlier leaves the identity as it was.
    private func beginAnew() async throws(TenonError) {
        if try await takeUpAbandonedKey() {
            // That the service cannot be asked leaves open what was open.
            if record.reason == .rotationPending { _ = try? await adoptHeldKey() }
            return
        }
        if try await adoptHeldKey() { return }
        (invalid, isProvisional) = (record, true)
        try record.wipe(deviceLocalID: record.reason == .foreignTPM ? RequestHeaders.makeNonce() : nil)
    }

    /// A try that began anew and failed for certain: what it began goes to the attic, and the identity is what it was.
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
            return try await send(
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
                key.generation, message: try request.kept(context.declaration), resend: context.declaration.resend,
                slot: terms.slot))
        return try await send(request, isProven: terms.proof != nil, by: attester)
    }

    /// The message that registers a key, with its proof.
    func registration(
        _ terms: inout RegistrationTerms, _ key: IdentityKey, _ attester: Attester?, _ challenge: LiveChallenge?
    ) async throws(TenonError) -> HTTPRequest {
        try await prove(&terms, key, attester)
        let request = try await finish(profile.registration(device, terms), by: await load(key))
        // The proof may have taken long.
        if let challenge { try challenge.check(clock.now) }
        return request
    }

    private func send(
        _ request: HTTPRequest, isProven: Bool, by attester: Attester? = nil
    ) async throws(TenonError) -> Registration {
        try record.move(to: .registering)
        try record.markSent()
        isProvisional = false
        try await save()
        let wasOpen = isOutcomeOpen
        isOutcomeOpen = true
        let answer: HTTPResponse
        do throws(TenonError) {
            answer = try await exchange(request)
        } catch {
            if error.category != .unknown { isOutcomeOpen = wasOpen }
            throw error
        }
        let read = profile.registration(in: answer, to: request)
        if case .accepted(.registered) = read, let attester, isProven { remember(attester.endorsement) }
        return try await settle(read, request, wasOpen, isProven)
    }

    private func settle(
        _ answer: ServiceAnswer<RegistrationOutcome>, _ request: HTTPRequest, _ wasOpen: Bool, _ isProven: Bool
    ) async throws(TenonError) -> Registration {
        switch answer {
        case .accepted(.registered(let id, let certificates)):
            try await profile.keep(request)
            let registration = try await registered(id, isProven)
            await keepIssued(certificates)
            return registration
        case .accepted(.pending):
            try record.awaitApproval()
            isOutcomeOpen = false
            throw TenonError(
                .registrationPending, message: "The service has not decided about this device: register again later.")
        case .accepted(.rejected):
            try await reject()
            throw TenonError(.registrationRejected, message: "The service does not want this device.")
        case .refused(let refusal):
            isOutcomeOpen = wasOpen
            if refusal.verdict == .rejected { try await reject() }
            throw refusal.error
        case .later(let error), .unclear(let error): throw error
        }
    }

    private func registered(
        _ id: String, _ isProven: Bool
    ) async throws(TenonError) -> Registration {
        guard IdentityName.isDeviceID(id) else {
            throw TenonError(.serviceAnswer, message: "The service gives an id that cannot stand in a header.")
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

    /// The service said no for good: the key has no use, and goes to the attic (decision: definite-refusal).
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
    mutating func forgetKeys() { (keys, journal, attestation, lastSlot) = ([], nil, nil, nil) }
}

extension HTTPRequest {
    /// What of the message is kept while it is on its way: all of one that must be sent again as it is. Of another the
    /// sum, as a proof is not to lie on a disk (docs/synheart.md) and is never sent twice.
    func kept(_ declaration: ServiceDeclaration) throws(TenonError) -> [UInt8] {
        let bytes = try journalled()
        return declaration.resend == .identical ? bytes : try Digest(hashing: bytes).rawRepresentation
    }
}
