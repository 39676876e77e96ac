// SPDX-License-Identifier: Apache-2.0

// Where only the record before can be read, each key of which there is a file may be the one that the service holds
// (security.md D5). It is asked, key by key; until it has said so nothing is signed and nothing is made.
extension Flow {
    /// Ends the doubt, or leaves all as it is.
    func resolveLeftover() async throws(TenonError) {
        let held = held
        let leftover = try await context.onDisk { store throws(TenonError) in try store.leftover(held) }
        record = leftover.record
        guard record.deviceID != nil, !record.isRevoked else { return try await adopt() }
        var keys: [IdentityKey] = []
        for candidate in leftover.candidates {
            if let known = candidate.known {
                keys.append(known)
            } else if let facts = try? await vault.facts(ofFile: candidate.pem) {
                keys.append(
                    IdentityKey(
                        generation: candidate.generation, role: .next, facts: facts, isHardware: vault.isHardware,
                        isOffered: true))
            }
        }
        for key in keys where try await isHeld(key) {
            try record.resolve(to: key.generation, among: keys)
            return try await adopt()
        }
        throw .stateUnresolved
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
