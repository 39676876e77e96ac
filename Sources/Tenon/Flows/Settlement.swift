// SPDX-License-Identifier: Apache-2.0

/// The service's answer about a key that signed a question.
private enum Probed {
    case held, another, refused, revoked
}

/// The knowledge about the offered key after asking the service.
enum NextKey {
    case held, notHeld
    /// The service answered something else, so it is not known.
    case unknown(TenonError)
}

// Which key does the service hold? Only its own endpoints say (decision: own-endpoints).
extension Flow {
    /// Finds out the outcome of a rotation, and whether the service still knows the device.
    func resolve() async throws(TenonError) {
        try registered()
        if record.journal == nil { try await checkLog() }
        try await takeEffect()
        guard record.journal?.operation == .rotate || record.key(.next)?.isOffered == true else {
            return try await askForCurrent(.notHeld)
        }
        let isWaiting = record.journal?.effectiveAt != nil
        let isOffered = context.declaration.settlements.isEmpty || context.declaration.settlements.first == .resend
        // If the service has a question for this, it is asked; otherwise the key is offered again, which settles an
        // open rotation.
        var next = NextKey.notHeld
        if !isWaiting, !isOffered || record.journal?.operation != .rotate || record.signsByNext {
            next = try await askAboutNext()
            if case .held = next { return }
        }
        if isOffered, record.journal?.operation == .rotate || !next.isNotHeld {
            do throws(TenonError) {
                _ = try await offer()
                return
            } catch  where error.leavesKeyUnknown {
                next = .unknown(error)
            }
        }
        try await askForCurrent(next)
    }

    /// Asks about the offered key. If the service holds it, it becomes the current key; if not, the current key signs
    /// again.
    func askAboutNext() async throws(TenonError) -> NextKey {
        guard let next = record.key(.next), next.isOffered, canProbe else { return .notHeld }
        do throws(TenonError) {
            switch try await probe(next) {
            case .held:
                try await promote(at: serviceTime)
                return .held
            case .another, .refused:
                try await returnToCurrent()
                return .notHeld
            case .revoked: return .notHeld
            }
        } catch  where error.httpStatus != nil {
            return .unknown(error)
        }
    }

    /// The service refused the signature of the current key. If it was offered another one, that signs from now on, and
    /// is asked about; both are kept.
    ///
    /// - Returns: whether the service holds that one; false when it holds one of the others.
    func tryNext(after error: TenonError) async throws(TenonError) -> Bool {
        guard maySignByNext else {
            if case .held = try await askAboutNext() { return true }
            try await noteAllRefused(error)
            return false
        }
        if !record.signsByNext {
            try record.tryNext()
            try await save()
        }
        // The service may have accepted an earlier message.
        isOutcomeOpen = true
        switch try await askAboutNext() {
        case .held: return true
        case .notHeld:
            try await noteAllRefused(error)
            return false
        case .unknown(let answer): throw answer.mayBeTriedAgain ? answer : .unconfirmed(answer)
        }
    }

    /// Whether the key that was offered may sign in the place of the current one. If messages are numbered, nothing is
    /// signed anew.
    var maySignByNext: Bool {
        guard case .signedByCurrent = context.declaration.rotation, context.declaration.resend == .fresh else {
            return false
        }
        return record.key(.next)?.isOffered == true
    }

    private func returnToCurrent() async throws(TenonError) {
        guard record.signsByNext else { return }
        record.signsByNext = false
        try await save()
    }

    /// Asks with the current key.
    ///
    /// - Parameter next: what is known of the other one.
    private func askForCurrent(_ next: NextKey) async throws(TenonError) {
        let unclear: TenonError? = if case .unknown(let error) = next { error } else { nil }
        guard let current = record.key(.current), canProbe else {
            if let unclear { throw unclear }
            return
        }
        let probed: Probed
        do throws(TenonError) {
            probed = try await probe(current)
        } catch {
            throw error.httpStatus == nil ? error : unclear ?? error
        }
        switch probed {
        case .held:
            (record.refusedAt, record.signsByNext) = (nil, false)
            // The service accepted a request by it: the key before has no use any more (decision: one-offered-key).
            record.retirePrevious()
            try await save()
        case .revoked: try await confirmRevoked(.revoked)
        case .refused, .another:
            if unclear != nil || record.journal?.effectiveAt != nil {
                _ = try await tryNext(after: .allRefused)
            } else {
                try await noteAllRefused(.allRefused)
            }
        }
    }

    /// Takes up the key that the service holds, among those that it may have heard of and that this TPM can load.
    /// Returns false if it holds none of them. Asks about the youngest first.
    ///
    /// - Throws: what it says of one instead, when it says of none that it holds it.
    func takeHeldKey(among keys: [IdentityKey]) async throws(TenonError) -> Bool {
        guard canProbe, record.deviceID != nil, record.lastSlot == nil else { return false }
        var unclear: TenonError?
        let heard = keys.filter { $0.isOffered || $0.role != .next && $0.role != .following }
        for key in heard.sorted(by: { $0.generation > $1.generation }) {
            do throws(TenonError) {
                _ = try await vault.key(key.facts)
            } catch  where error.category == .gone {
                continue
            }
            do throws(TenonError) {
                guard try await probe(key) == .held else { continue }
            } catch  where error.httpStatus != nil {
                unclear = unclear ?? error
                continue
            }
            try record.resolve(to: key.generation, among: keys)
            isOutcomeOpen = false
            return true
        }
        if let unclear { throw unclear }
        return false
    }

    /// The same of the keys in the record, and writes it down.
    func adoptHeldKey() async throws(TenonError) -> Bool {
        guard try await takeHeldKey(among: record.keys) else { return false }
        try await save()
        return true
    }

    /// A service that refuses all keys is believed when it does so again an hour later (decision: two-refusals); what
    /// it said in another boot, or longer ago than any timer waits, was another matter.
    func noteAllRefused(_ error: TenonError) async throws(TenonError) {
        guard canProbe, try await !adoptHeldKey() else { return }
        let now = clock.bootMoment
        guard let age = record.refusedAt.flatMap(now.since), age <= context.limits.oldestRefusal else {
            record.refusedAt = now
            try await save()
            throw error
        }
        guard age >= context.limits.secondRefusal else { throw error }
        try await invalidate(because: .superseded)
        throw .superseded
    }

    /// A service that says that the device is revoked is asked once more (decision: definite-refusal).
    func confirmRevoked(_ error: TenonError) async throws(TenonError) {
        guard let signer = record.key(record.signsByNext ? .next : .current), canProbe else { return }
        guard try await probe(signer) == .revoked else { throw error }
        if record.state == .registering { try record.move(to: .registered) }
        try record.revoke()
        try await save()
        throw .revoked
    }

    private var canProbe: Bool { probeKind != nil }

    private var probeKind: Settlement? {
        context.declaration.settlements.first { $0 == .ask || $0 == .selfRotation }
    }

    /// Asks the service about a key, signed by that key. The clock may be learnt on the way, once.
    private func probe(_ key: IdentityKey) async throws(TenonError) -> Probed {
        var mended: Set<TenonError.Code> = []
        while true {
            let signer = try await load(key, toSign: probeKind == .ask || !isRotationProven)
            let (answer, response) = try await ask(signer, key)
            switch answer {
            case .accepted(.held):
                record.follow(profile.signing(in: response), mayWiden: false)
                return .held
            case .accepted(.another): return .another
            case .accepted(.revoked): return .revoked
            case .later(let error), .unclear(let error): throw error
            case .refused(let refusal):
                switch refusal.verdict {
                case .keyRefused: return .refused
                case .revoked: return .revoked
                case .clockSkew where mended.insert(.clockSkew).inserted:
                    try await learnClock(refusal, response)
                case .nonceReplay where mended.insert(.nonceReplay).inserted: break
                default: throw refusal.error
                }
            }
        }
    }

    private func ask(
        _ signer: any DeviceKey, _ key: IdentityKey
    ) async throws(TenonError) -> (ServiceAnswer<KeyHolding>, HTTPResponse) {
        if probeKind == .ask {
            let request = try await finish(profile.question(device, stamp()), by: key)
            let response = try await exchange(request)
            return (profile.holding(in: response, of: signer.publicKey), response)
        }
        var terms = RotationTerms(current: signer.publicKey, new: signer.publicKey, stamp: try stamp())
        try await prove(&terms, key)
        let request = try await finish(profile.rotation(device, terms), by: key)
        let response = try await exchange(request)
        return (profile.rotation(in: response, to: request).map { _ in .held }, response)
    }
}

extension NextKey {
    fileprivate var isNotHeld: Bool {
        if case .notHeld = self { true } else { false }
    }
}

extension IdentityRecord {
    /// The key that the accepted message was bound to is the next one from now on.
    mutating func promoteFollowing() {
        guard let index = keys.firstIndex(where: { $0.role == .following }) else { return }
        keys[index].role = .next
    }
}

extension TenonError {
    /// Whether the service answered, and not what was asked: of no key it said whether it holds it.
    var leavesKeyUnknown: Bool {
        let codes: [Code] = [
            .rotationFailed, .serviceRefused, .attestationFailed, .serviceBusy, .serviceAnswer, .outcomeUnknown,
        ]
        return httpStatus != nil && codes.contains(code)
    }

    fileprivate static let allRefused = TenonError(
        .keyRefused, message: "The service refuses all keys of this device. Ask it again in an hour.")
    fileprivate static let superseded = TenonError(
        .keyInvalidated,
        message: "The service holds a key that this state does not know. Restore the newer state, or register again.")

    fileprivate static func unconfirmed(_ answer: TenonError) -> TenonError {
        TenonError(
            .rotationOpen,
            message: "The service refuses the old key and did not confirm the new one, which signs now.",
            httpStatus: answer.httpStatus, serverCode: answer.serverCode)
    }
}
