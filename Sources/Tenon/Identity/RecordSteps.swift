// SPDX-License-Identifier: Apache-2.0

// The steps of an operation. Each changes the value; what is not written is not done.
extension IdentityRecord {
    /// Adds a key whose file is on disk.
    @discardableResult
    package mutating func add(
        _ facts: KeyFacts, as role: KeyRole, generation: Int, isHardware: Bool
    ) throws(TenonError) -> IdentityKey {
        guard key(role) == nil, generation > lastGeneration else { throw .keyGeneration }
        let key = IdentityKey(
            generation: generation, role: role, facts: facts, isHardware: isHardware, isOffered: false)
        keys.append(key)
        lastGeneration = generation
        return key
    }

    /// Lets a key go that never left the device; its file is moved to the attic by the next sweep.
    ///
    /// - Throws: ``TenonError/Code/keyGeneration`` for a key that the service may come to hold
    ///   (decision: one-offered-key), and for the one that it holds.
    package mutating func drop(_ generation: Int) throws(TenonError) {
        guard let key = keys.first(where: { $0.generation == generation }), !key.isOffered || key.role == .previous,
            !key.isCommitted || key.role == .previous, journal?.newGeneration != generation,
            journal?.oldGeneration != generation,
            journal?.committedGeneration != generation, key.role != .current || state == .unregistered
        else { throw .keyGeneration }
        keys.removeAll { $0.generation == generation }
    }

    /// Writes down a message before its first byte leaves, or one that is to follow it in the same operation.
    ///
    /// - Throws: ``TenonError/Code/operationInFlight`` while another operation is not settled,
    ///   ``TenonError/Code/slotTaken`` for a second message where there may be one only (decision: one-message),
    ///   ``TenonError/Code/keyGeneration`` when a key is not what the operation needs.
    package mutating func begin(_ next: Journal) throws(TenonError) {
        guard next.message.count <= Journal.longestMessage else {
            throw TenonError(.tooLarge, message: "A message may have at most \(Journal.longestMessage) bytes.")
        }
        guard let journal else {
            if let slot = next.slot, let lastSlot, slot <= lastSlot { throw .slotTaken }
            try checkKeys(of: next)
            (self.journal, lastSlot) = (next, next.slot ?? lastSlot)
            return
        }
        guard journal.isSameOperation(as: next) else { throw .operationInFlight }
        guard journal.slot == next.slot, journal.isReplaceable || journal.message == next.message else {
            throw .slotTaken
        }
        // A message that was sent is still on its way, whatever follows.
        self.journal?.message = next.message
    }

    /// From now on bytes may have left, and with them the public half of the new key.
    package mutating func markSent() throws(TenonError) {
        guard let journal else { throw .keyGeneration }
        if let committed = journal.committedGeneration { try changeKey(committed) { $0.isCommitted = true } }
        try changeKey(journal.newGeneration) { $0.isOffered = true }
        self.journal?.phase = .sent
    }

    /// The service took a message of the log.
    package mutating func took(_ tail: LogTail) { logTail = tail }

    /// The service answered a registration that it has not decided.
    package mutating func awaitApproval() throws(TenonError) {
        guard journal?.operation == .register else { throw .keyGeneration }
        journal?.awaitsApproval = true
    }

    /// The service took the new key, but from a later time on: on its clock, and on the one here that nobody sets.
    package mutating func accept(effectiveAt: Int64, from moment: BootMoment) throws(TenonError) {
        guard journal?.operation == .rotate else { throw .keyGeneration }
        journal?.effectiveAt = effectiveAt
        journal?.effectiveFrom = moment
        signsByNext = false
    }

    /// The service refused the signature of the current key: the one that it was offered is tried, and neither is let
    /// go.
    ///
    /// - Throws: ``TenonError/Code/keyGeneration`` when none was offered.
    package mutating func tryNext() throws(TenonError) {
        guard state == .registering || state == .registered, key(.next)?.isOffered == true else { throw .keyGeneration }
        signsByNext = true
    }

    /// The time from which the new key is valid is not known any more: the new key signs, because it will be right for
    /// good.
    package mutating func forgetEffectiveTime() throws(TenonError) {
        try tryNext()
        journal?.effectiveAt = nil
        journal?.effectiveFrom = nil
    }

    /// The operation has an outcome. Its keys stay what they are.
    package mutating func settle() { journal = nil }

    /// The service refused the registration for good, whatever is sent with this key: another is made.
    package mutating func reject() throws(TenonError) {
        guard state == .unregistered, let journal, journal.operation == .register else { throw .keyGeneration }
        keys.removeAll { $0.generation == journal.newGeneration }
        if let next = key(.next) { try changeKey(next.generation) { $0.role = .current } }
        // Another key begins another order of messages.
        (self.journal, lastSlot, logTail) = (nil, nil, nil)
    }

    /// The service holds the next key. The one before is kept until a request by the new one was accepted.
    package mutating func promote(at time: Int64) throws(TenonError) {
        guard state == .registering || state == .registered, let next = key(.next), next.isOffered,
            let current = key(.current)
        else { throw .keyGeneration }
        keys.removeAll { $0.role == .previous }
        try changeKey(current.generation) { $0.role = .previous }
        try changeKey(next.generation) { $0.role = .current }
        (journal, keyRotatedAt, refusedAt, signsByNext) = (nil, time, nil, false)
    }

    /// The service's own endpoint accepted a request by the current key: the one before has no use any more.
    package mutating func retirePrevious() { keys.removeAll { $0.role == .previous } }

    /// The service revoked the device, and said so twice (decision: definite-refusal).
    package mutating func revoke() throws(TenonError) {
        guard state == .registered || state == .keyInvalid else { throw TenonError(from: state, to: state) }
        isRevoked = true
    }

    /// The TPM that is here will never sign with the current key. Also of a registration whose outcome is open: the key
    /// that was offered stays, for its TPM may come back (decision: attic), and nothing is begun anew but when asked.
    package mutating func invalidate(because cause: IdentityReason) throws(TenonError) {
        try passToRegistered()
        try move(to: .keyInvalid, because: cause)
    }

    /// The key that was given up because the TPM that was here would not take it; nil where the service said something
    /// else, and where there is none.
    package var abandonedKey: IdentityKey? {
        (cause == .foreignTPM || cause == .tpmCleared) && !isRevoked ? key(signsByNext ? .next : .current) : nil
    }

    /// The TPM that is here takes the key that was given up: the identity stands where it stood before, and what was
    /// open is as open as it was. Nothing was sent in between, as whatever is sent changes the record first.
    package mutating func revive() throws(TenonError) {
        guard cause == .foreignTPM || cause == .tpmCleared else { throw TenonError(from: state, to: .unregistered) }
        let signedByNext = signsByNext
        try move(to: .unregistered)
        guard deviceID != nil, journal?.operation != .register else { return }
        try passToRegistered()
        signsByNext = signedByNext
    }

    /// The reason why this TPM can never use the key. Only the same endorsement key shows that it is the same TPM. A
    /// machine that is wrongly taken for another one draws a new local id, and no two machines share one
    /// (decision: other-machine).
    package func causeOfLoss(ekID: Digest?) -> IdentityReason {
        self.ekID != nil && ekID == self.ekID ? .tpmCleared : .foreignTPM
    }

    /// Takes the key that the service was seen to hold, where only an older record was left. The keys that are younger
    /// may have been offered, and the youngest of them stays the next one (decision: one-offered-key).
    ///
    /// - Throws: ``TenonError/Code/slotTaken`` where messages have an order: of a lost record nobody knows the last
    ///   one, and a second one in its place would be worse than a lost identity (decision: one-message).
    package mutating func resolve(to generation: Int, among found: [IdentityKey]) throws(TenonError) {
        guard lastSlot == nil else { throw .slotTaken }
        guard var current = found.first(where: { $0.generation == generation }) else { throw .keyGeneration }
        (current.role, current.isOffered) = (.current, true)
        (keys, journal, refusedAt, signsByNext) = ([current], nil, nil, false)
        if var next = found.filter({ $0.generation > generation }).max(by: { $0.generation < $1.generation }) {
            (next.role, next.isOffered) = (.next, true)
            keys.append(next)
        }
        lastGeneration = max(lastGeneration, found.map(\.generation).max() ?? 0)
        if state == .keyInvalid { try move(to: .unregistered) }
        try passToRegistered()
    }

    /// Takes the documented steps from the present state to `registered`.
    private mutating func passToRegistered() throws(TenonError) {
        let way: [IdentityState] = [.unregistered, .challengeReceived, .keyReady, .registering, .registered]
        for next in way.drop(while: { $0 != state }).dropFirst() { try move(to: next) }
    }

    /// Starts again after an invalid key. In the same machine, its ids stay (W17).
    ///
    /// - Parameter deviceLocalID: another one, when the state came from another machine (decision: other-machine).
    package mutating func wipe(deviceLocalID: String? = nil) throws(TenonError) {
        guard state == .keyInvalid else { throw TenonError(from: state, to: .unregistered) }
        if cause == .foreignTPM, deviceLocalID == nil || deviceLocalID == self.deviceLocalID {
            throw TenonError(.deviceID, message: "An identity of another machine must start with a new local id.")
        }
        let machine = cause == .foreignTPM ? nil : ekID
        try move(to: .unregistered)
        forget(deviceLocalID ?? self.deviceLocalID)
        ekID = machine
    }

    /// Records in which machine the first key is made. A local id that was drawn in another or an unknown machine is
    /// replaced; otherwise all copies of one disk would be one device (decision: other-machine).
    package mutating func place(in machine: Digest?, deviceLocalID: String) {
        guard machine == nil || machine != ekID else { return }
        (ekID, self.deviceLocalID) = (machine, deviceLocalID)
    }

    /// Starts again because somebody asked for it.
    package mutating func reset(deviceLocalID: String) throws(TenonError) {
        try move(to: .unregistered, by: .reset)
        isRevoked = false
        forget(deviceLocalID)
    }

    /// Whether no key was ever sent.
    package var isUnheard: Bool { state == .unregistered && journal == nil && keys.allSatisfy { !$0.isOffered } }

    /// Whether the service is spoken to as it was when the device was registered (decision: dialect-kept).
    package func check(dialect: String) throws(TenonError) {
        guard dialect == self.dialect || isUnheard else {
            throw TenonError(
                .dialectChanged,
                message: "The identity uses the dialect \(self.dialect). Configure that one, or reset the identity.")
        }
    }

    /// Speaks to the service so from now on.
    package mutating func take(dialect: String) throws(TenonError) {
        try check(dialect: dialect)
        self.dialect = dialect
    }

    /// Records a report that others may be able to use the keys: all present keys, including one that was only offered.
    package mutating func reportCompromise() { compromisedGeneration = lastGeneration }

    /// Whether the current key is among the reported ones.
    package var isCompromised: Bool {
        guard let compromisedGeneration, let current = key(.current) else { return false }
        return current.generation <= compromisedGeneration
    }

    private mutating func forget(_ deviceLocalID: String) {
        (keys, journal, attestationKey, attestation, ekID) = ([], nil, nil, nil, nil)
        (deviceID, registeredAt, keyRotatedAt, refusedAt, clock) = (nil, nil, nil, nil, nil)
        (lastSlot, logTail) = (nil, nil)
        (signatureVersions, signing, compromisedGeneration, signsByNext) = ([], nil, nil, false)
        self.deviceLocalID = deviceLocalID
    }

    private mutating func changeKey(
        _ generation: Int, _ change: (inout IdentityKey) -> Void
    ) throws(TenonError) {
        guard let index = keys.firstIndex(where: { $0.generation == generation }) else { throw .keyGeneration }
        change(&keys[index])
    }

    func checkKeys(of journal: Journal) throws(TenonError) {
        let (current, next) = (key(.current)?.generation, key(.next)?.generation)
        let fits =
            switch journal.operation {
            case .register: journal.oldGeneration == nil && current == journal.newGeneration
            case .rotate: journal.oldGeneration == current && next == journal.newGeneration && current != nil
            }
        let bound = key(journal.operation == .register ? .next : .following)?.generation
        guard fits, journal.committedGeneration == nil || journal.committedGeneration == bound else {
            throw .keyGeneration
        }
    }
}

extension TenonError {
    static let keyGeneration = TenonError(
        .keyGeneration, message: "The identity has no such key, already has one, or must keep it.")
    fileprivate static let operationInFlight = TenonError(
        .operationInFlight, message: "Another operation is open. Settle it first.")
    fileprivate static let slotTaken = TenonError(
        .slotTaken, message: "The journal already has another message with this number, and sends that one again.")
}
