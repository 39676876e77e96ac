// SPDX-License-Identifier: Apache-2.0

extension IdentityRecord {
    /// The key that signs now: of a rotation that was accepted for later, from then on the new one.
    ///
    /// - Throws: ``TenonError/Code/deviceRevoked``, ``TenonError/Code/keyInvalidated``,
    ///   ``TenonError/Code/registrationPending``, ``TenonError/Code/notRegistered`` (W15).
    func activeKey(at time: Int64) throws(TenonError) -> IdentityKey {
        guard !isRevoked else { throw .revoked }
        switch state {
        case .registered: break
        case .registering where journal?.operation == .rotate: break
        case .keyInvalid: throw .invalidated(cause)
        default: throw journal?.awaitsApproval == true ? .pending : .notRegistered
        }
        if let effective = journal?.effectiveAt, effective <= time, let next = key(.next) { return next }
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
