// SPDX-License-Identifier: Apache-2.0

extension IdentityRecord {
    /// What holds of every record, written or read. One for which it does not would be no record.
    func validate() throws(TenonError) {
        try demand(keys.allSatisfy { $0.generation >= 1 && $0.generation <= lastGeneration }, "generations")
        try demand(Set(keys.map(\.generation)).count == keys.count, "generations")
        try demand(Set(keys.map(\.role)).count == keys.count, "roles")
        try demand(keys.isEmpty || key(.current) != nil, "roles")
        try demand((attestationSettings?.size ?? 0) <= AttestationSettings.longest, "attestation_settings")
        try demand((compromisedGeneration ?? 0) <= lastGeneration, "compromised_generation")
        try validateState()
        if let journal { try validate(journal) }
        try demand(deviceID.map(IdentityName.isDeviceID) ?? true, "device_id")
        try demand(deviceLocalID.isUUID4, "device_local_id")
        for text in [dialect, platform] { try demand(text.isVisible(atMost: 64), "dialect or platform") }
        try demand(origin.isVisible(atMost: 2048) && alias.isVisible(atMost: 512), "origin or alias")
    }

    private func validateState() throws(TenonError) {
        switch state {
        case .unregistered, .challengeReceived: break
        case .keyReady: try demand(key(.current) != nil, "state")
        case .registering: try demand(journal != nil, "state")
        case .registered: try demand(key(.current)?.isOffered == true, "state")
        case .keyInvalid: try demand(cause?.invalidatesKey == true, "reason")
        }
        try demand(!isRevoked || state == .registered || state == .keyInvalid, "revoked")
        try demand(!signsByNext || mayTryNext, "signs_by_next")
    }

    private func validate(_ journal: Journal) throws(TenonError) {
        do throws(TenonError) { try checkKeys(of: journal) } catch { throw Self.malformed("journal") }
        let states: [IdentityState] =
            switch journal.operation {
            case .register: [.unregistered, .challengeReceived, .keyReady, .registering, .keyInvalid]
            case .rotate: [.registered, .registering, .keyInvalid]
            }
        try demand(states.contains(state), "journal")
        let new = keys.first { $0.generation == journal.newGeneration }
        try demand(journal.phase == .prepared || new?.isOffered == true, "journal")
        try demand(!journal.awaitsApproval || journal.operation == .register, "journal")
        try demand(journal.effectiveAt == nil || journal.operation == .rotate, "journal")
        try demand(journal.effectiveFrom == nil || journal.effectiveAt != nil, "journal")
        try demand(journal.slot == nil || journal.slot == lastSlot, "journal")
        try demand(journal.message.count <= Journal.longestMessage, "journal")
    }

    private func demand(_ condition: Bool, _ what: String) throws(TenonError) {
        guard condition else { throw Self.malformed(what) }
    }

    static func malformed(_ what: String) -> TenonError {
        TenonError(.recordForm, message: "The record does not have the form of one: \(what).")
    }
}

extension String {
    /// Whether it is a UUID of version 4 in lower case (RFC 9562, 5.4).
    var isUUID4: Bool {
        let bytes = Array(utf8)
        guard bytes.count == 36 else { return false }
        for (index, byte) in bytes.enumerated() {
            let fits =
                switch index {
                case 8, 13, 18, 23: byte == UInt8(ascii: "-")
                case 14: byte == UInt8(ascii: "4")
                case 19: "89ab".utf8.contains(byte)
                default: "0123456789abcdef".utf8.contains(byte)
                }
            guard fits else { return false }
        }
        return true
    }
}
