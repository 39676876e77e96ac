// SPDX-License-Identifier: Apache-2.0

extension IdentityRecord {
    /// Where a rotation stands that the service took for later.
    enum Acceptance {
        case none, waits, over
        /// The machine was started since, or version 1 wrote the record: how long it is still is not known.
        case unknown
    }

    func acceptance(at now: BootMoment) -> Acceptance {
        guard let journal, journal.effectiveAt != nil else { return .none }
        guard let from = journal.effectiveFrom, from.boot == now.boot, !now.boot.isEmpty,
            from.milliseconds &- now.milliseconds <= 86_400_000
        else { return .unknown }
        return now.since(from) == nil ? .waits : .over
    }

    /// The key that signs now: of a rotation that was accepted for later, from then on the new one. Where it is not
    /// known when that is, the new one, too: it will be the right one, and the other one will not.
    ///
    /// - Throws: ``TenonError/Code/deviceRevoked``, ``TenonError/Code/keyInvalidated``,
    ///   ``TenonError/Code/registrationPending``, ``TenonError/Code/notRegistered`` (W15).
    package func activeKey(at now: BootMoment) throws(TenonError) -> IdentityKey {
        guard !isRevoked else { throw .revoked }
        switch state {
        case .registered: break
        case .registering where journal?.operation == .rotate: break
        case .keyInvalid: throw .invalidated(cause)
        default: throw journal?.awaitsApproval == true ? .pending : .notRegistered
        }
        let acceptance = acceptance(at: now)
        if signsByNext || acceptance == .over || acceptance == .unknown, let next = key(.next) { return next }
        guard deviceID != nil, let current = key(.current) else { throw .notRegistered }
        return current
    }

    /// When the key is old enough to be changed, in Unix seconds: 90 days, and as much less as a number that this
    /// device drew says, so that not all devices of one day come on one day (W23). One that was reported as compromised
    /// was due from the beginning.
    func rotationDue(_ limits: FlowLimits) -> Int64? {
        guard let since = keyRotatedAt ?? registeredAt else { return nil }
        guard !isCompromised else { return since }
        let spread = UInt64(limits.keyAgeSpread.components.seconds)
        let chosen = UInt64(deviceLocalID.prefix(8), radix: 16) ?? 0
        return since &+ limits.keyAge.components.seconds &- Int64(spread == 0 ? 0 : chosen % spread)
    }
}

extension TenonError {
    static let pending = TenonError(
        .registrationPending, message: "The service has not decided about this device: register again later.")
}
