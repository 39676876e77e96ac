// SPDX-License-Identifier: Apache-2.0
internal import Tenon

extension AuthorityEngine {
    /// Issues a nonce of 32 random bytes for a request that shows who holds a key. It counts as an outstanding
    /// challenge of its asker.
    ///
    /// - Parameter life: the seconds for which it can be taken.
    package func issueNonce(
        to app: AppRecord, by request: AuthorityRequest, life: Int64
    ) async throws(Refusal) -> (nonce: [UInt8], expiresAt: Int64) {
        let (now, nonce) = (clock.now(), [UInt8](random: 32))
        let entry = ChallengeEntry(
            purpose: .presentation, app: app.id, origin: try origin(of: request), dialect: "",
            deadline: now.advanced(byMilliseconds: life * 1_000), asker: Address.subscriber(request.peer))
        try await waiting { () throws(TenonError) in
            try await stores.challenges.put(entry, under: Digest(hashing: nonce))
        }
        return (nonce, now.seconds + life)
    }

    /// Takes a nonce, which is spent then. False if it is not one of this app and origin, has expired or was taken.
    package func takeNonce(
        _ nonce: [UInt8], for app: AppRecord, by request: AuthorityRequest
    ) async throws(Refusal) -> Bool {
        let origin = try origin(of: request)
        let entry = try await waiting { () throws(TenonError) in
            try await stores.challenges.take(.presentation, under: Digest(hashing: nonce))
        }
        return entry?.app == app.id && entry?.origin == origin
    }

    /// Counts another signed event with a number that an accepted event has, for the metrics.
    package func countEventConflict() { metrics.countEventConflict() }
}
