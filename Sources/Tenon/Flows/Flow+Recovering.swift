// SPDX-License-Identifier: Apache-2.0

// Where only the record before can be read, each key of which there is a file may be the one that the service holds
// (decision: damaged-record). It is asked, key by key; until it has said so nothing is signed and nothing is made.
extension Flow {
    /// Ends the doubt, or leaves all as it is.
    func resolveLeftover() async throws(TenonError) {
        let held = held
        let leftover = try await context.onDisk { store throws(TenonError) in try store.leftover(held) }
        record = leftover.record
        guard record.deviceID != nil, !record.isRevoked else { return try await adopt() }
        var keys: [IdentityKey] = []
        for candidate in leftover.candidates {
            // Of any of them the service may have heard since.
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
