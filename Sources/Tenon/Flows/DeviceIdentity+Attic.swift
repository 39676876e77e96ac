// SPDX-License-Identifier: Apache-2.0

// Nothing of an identity is deleted but by a purge that was asked for (decision: attic).
extension DeviceIdentity {
    /// The files of this identity that are not in use any more, by their names in the folder `attic` of the state:
    /// keys, records and certificates.
    public func attic() async throws(TenonError) -> [String] {
        let prefix = context.name.prefix
        return try await context.onDisk { store throws(TenonError) in
            try store.folder.attic().names().filter { $0.hasPrefix(prefix) }.sorted()
        }
    }

    /// Deletes those of them that are both older than 90 days and not among the newest 16. A key that is deleted never
    /// signs again, whatever TPM comes back.
    ///
    /// - Returns: what was deleted.
    @discardableResult
    public func purge() async throws(TenonError) -> [String] {
        let (prefix, now) = (context.name.prefix, Int(context.clock.moment().seconds))
        let outcome = try await turn(.purge) { [context] held throws(TenonError) in
            .purged(
                try await context.onDisk { store throws(TenonError) in
                    try store.check(held)
                    return try store.folder.purgeAttic(of: prefix, now: now)
                })
        }
        guard case .purged(let names) = outcome else { throw .keyGeneration }
        return names
    }
}
