// SPDX-License-Identifier: Apache-2.0

/// The result of maintaining an identity.
public enum Maintenance: Hashable, Sendable {
    /// Nothing is open.
    case done
    /// The service took a new key, which signs from this time on, in Unix seconds on its clock.
    case waits(until: Int64)
    /// A new key was offered, and whether the service took it is not settled; both keys are kept.
    ///
    /// - Parameter newKeySigns: whether it signs meanwhile, as the service refused the signature of the old one.
    case rotationOpen(newKeySigns: Bool)
    /// The device cannot sign, and no maintenance helps it: its status says why.
    case stopped
}

extension Flow {
    func maintain() async throws(TenonError) -> Maintenance {
        guard !record.isRevoked else { return .stopped }
        if record.cause == .superseded, try await !askAgain() { return .stopped }
        guard record.state == .registered else { return .stopped }
        do throws(TenonError) {
            try await settle()
        } catch  where error.code == .rotationOpen {
            // The result reports it.
        }
        // A key that the service has refused is not presented to it as the device's key.
        if !record.signsByNext || context.declaration.attestation != .activation { try await renewAttestation() }
        try await mendLog()
        // A reported key is due, whatever the clock shows.
        if context.declaration.rotation != .none, record.journal == nil, !record.signsByNext,
            let due = record.rotationDue(context.declaration.keyAge, context.limits),
            due <= serviceTime || record.isCompromised
        {
            _ = try await rotate()
        }
        if record.state == .registered, !record.isRevoked {
            try await profile.maintain(ServiceUse(self))
            guard !record.isRevoked else { return .stopped }
        }
        return left
    }

    /// Settles what is open, as far as the service lets it be.
    private func settle() async throws(TenonError) {
        let isOpen = record.journal?.operation == .rotate || record.key(.next)?.isOffered == true
        guard isOpen || record.key(.previous) != nil || record.refusedAt != nil else { return }
        if record.acceptance(at: clock.bootMoment) == .waits, record.refusedAt == nil, !record.signsByNext { return }
        do throws(TenonError) {
            try await resolve()
        } catch  where error.leavesKeyUnknown && !isOpen && record.refusedAt == nil {
            // Nothing was in doubt: the key before is kept until the service says more.
        }
        // The service holds the old key, and what became of the message is still not known: it is sent again.
        if record.journal?.operation == .rotate, record.journal?.effectiveAt == nil { _ = try await rotate() }
    }

    /// Asks a service that refused all keys whether it holds one again, as after it was restored.
    ///
    /// - Returns: whether the identity is back.
    private func askAgain() async throws(TenonError) -> Bool {
        var unclear: TenonError?
        do throws(TenonError) {
            if try await adoptHeldKey() { return true }
        } catch  where error.httpStatus != nil {
            unclear = error
        }
        if context.declaration.settlements.first == .resend, maySignByNext, try await offerOnce() { return true }
        if let unclear, unclear.mayBeTriedAgain { throw unclear }
        return false
    }

    /// Offers the key that was offered before, which changes no state unless it is taken.
    private func offerOnce() async throws(TenonError) -> Bool {
        guard let current = record.key(.current), let next = record.key(.next) else { return false }
        let request = try await rotationRequest(from: current)
        try record.markSent()
        try await save()
        let answer = try await exchange(request)
        guard case .accepted = profile.rotation(in: answer, to: request) else { return false }
        try record.resolve(to: next.generation, among: record.keys)
        try await save()
        return true
    }

    private var left: Maintenance {
        if let time = record.journal?.effectiveAt { return .waits(until: time) }
        let isOpen = record.journal?.operation == .rotate || record.key(.next)?.isOffered == true
        return isOpen ? .rotationOpen(newKeySigns: record.signsByNext) : .done
    }
}

// If only the previous record can be read, the service may hold any key that has a file (decision: damaged-record). The
// service is asked about each key. Until it has answered, nothing is signed and no key is made.
extension Flow {
    /// Ends the doubt, or leaves all as it is.
    func resolveLeftover() async throws(TenonError) {
        let held = held
        let leftover = try await context.onDisk { store throws(TenonError) in try store.leftover(held) }
        record = leftover.record
        guard record.deviceID != nil, !record.isRevoked else { return try await adopt() }
        var keys: [IdentityKey] = []
        for candidate in leftover.candidates {
            // The service may have heard of any of them since.
            if var known = candidate.known {
                known.isOffered = true
                keys.append(known)
            } else if let facts = try? await vault.facts(ofFile: candidate.pem) {
                keys.append(
                    IdentityKey(
                        generation: candidate.generation, role: .next, facts: facts, isHardware: vault.isHardware,
                        isOffered: true))
            }
        }
        guard try await takeHeldKey(among: keys) else { throw .stateUnresolved }
        try await adopt()
    }

    private func adopt() async throws(TenonError) {
        let (record, held) = (record, held)
        self.record = try await context.onDisk { store throws(TenonError) in
            try store.resolve(record, held)
            return try store.recover(held).record
        }
        context.status.show(IdentityStatus(self.record))
    }
}
