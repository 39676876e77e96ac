// SPDX-License-Identifier: Apache-2.0

/// What the service said about a key that signed a question.
private enum Probed {
    case held, another, refused, revoked
}

// Which key does the service hold? Only its own endpoints say (security.md D2).
extension Flow {
    /// Finds out what came of a rotation, and whether the service still knows the device.
    func resolve() async throws(TenonError) {
        try requireRegistered()
        try await promoteIfEffective()
        if record.journal?.operation == .rotate, record.journal?.effectiveAt == nil,
            context.declaration.settlements.isEmpty || context.declaration.settlements.first == .resend
        {
            _ = try await rotate()
            return
        }
        if record.journal?.effectiveAt == nil, try await isNextHeld() { return }
        try await askForCurrent()
    }

    /// Whether the service holds the key that was offered to it; if so, it is the current one from now on.
    func isNextHeld() async throws(TenonError) -> Bool {
        guard let next = record.key(.next), next.isOffered, canProbe else { return false }
        guard try await probe(next) == .held else { return false }
        try await promote(at: serviceTime)
        return true
    }

    /// Asks with the current key.
    private func askForCurrent() async throws(TenonError) {
        guard let current = record.key(.current), canProbe else { return }
        switch try await probe(current) {
        case .held:
            record.refusedAt = nil
            // The service accepted a request by it: the key before has no use any more (security.md D1).
            record.retirePrevious()
            try await save()
        case .revoked: try await confirmRevoked(.revoked)
        case .refused, .another: try await noteAllRefused(.allRefused)
        }
    }

    /// Takes up the key that the service holds, of those that it ever heard of and that are here; false when it holds
    /// none of them. The youngest is asked about first.
    func takeHeldKey(among keys: [IdentityKey]) async throws(TenonError) -> Bool {
        guard canProbe, record.deviceID != nil, record.lastSlot == nil else { return false }
        let heard = keys.filter { $0.isOffered || $0.role != .next && $0.role != .following }
        for key in heard.sorted(by: { $0.generation > $1.generation }) {
            do throws(TenonError) {
                _ = try await vault.key(key.facts)
            } catch  where error.category == .gone {
                continue
            }
            guard try await probe(key) == .held else { continue }
            try record.resolve(to: key.generation, among: keys)
            isOutcomeOpen = false
            return true
        }
        return false
    }

    /// The same of the keys in the record, and writes it down.
    func adoptHeldKey() async throws(TenonError) -> Bool {
        guard try await takeHeldKey(among: record.keys) else { return false }
        try await save()
        return true
    }

    /// A service that refuses all keys is believed when it does so again an hour later (security.md D2); what it said
    /// in another boot, or longer ago than any timer waits, was another matter.
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

    /// A service that says that the device is revoked is asked once more (security.md D3).
    func confirmRevoked(_ error: TenonError) async throws(TenonError) {
        guard let current = record.key(.current), canProbe else { return }
        guard try await probe(current) == .revoked else { throw error }
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
            let signer = try await load(key)
            let (answer, response) = try await ask(signer, key)
            switch answer {
            case .accepted(.held): return .held
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
            let request = try await finish(profile.question(device, stamp()), by: signer)
            let response = try await exchange(request)
            return (profile.holding(in: response, of: signer.publicKey), response)
        }
        var terms = RotationTerms(current: signer.publicKey, new: signer.publicKey, stamp: try stamp())
        try await prove(&terms, key)
        let request = try await finish(profile.rotation(device, terms), by: signer)
        let response = try await exchange(request)
        switch profile.rotation(in: response, to: request) {
        case .accepted: return (.accepted(.held), response)
        case .refused(let refusal): return (.refused(refusal), response)
        case .later(let error): return (.later(error), response)
        case .unclear(let error): return (.unclear(error), response)
        }
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
    fileprivate static let allRefused = TenonError(
        .keyRefused, message: "The service refuses all keys of this device: it is asked again in an hour.")
    fileprivate static let superseded = TenonError(
        .keyInvalidated,
        message: "The service holds another key than this state knows: bring the newer state back, or register anew.")
}
