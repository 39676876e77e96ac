// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Where activations wait for their secrets, in memory. A service of many processes has its own in a shared store,
/// which needs ``put(_:for:now:)`` and ``take(_:)`` to be atomic, and no more.
///
/// It is bounded, and never gives up one activation for another. No endorsement key has a share of its own: its
/// certificate is no secret, and whoever knows it could use up the share. Who may ask how often is for the service to
/// say, by address.
public final class PendingActivations: Sendable {
    private struct State {
        var entries: [Digest: PendingActivation] = [:]
        /// No entry ends before this.
        var nextDeadline = Int64.max
    }

    /// How many wait at most.
    public let capacity: Int
    private let state = Mutex(State())

    public init(capacity: Int = 10_000) { self.capacity = max(1, capacity) }

    /// How many are kept, those that have ended and were not needed to make room included.
    public var count: Int { state.withLock { $0.entries.count } }

    /// Keeps an activation under the SHA-256 of its secret.
    ///
    /// - Throws: ``TenonError/Code/pendingFull`` with the time until there is room again.
    public func put(_ activation: PendingActivation, for digest: Digest, now: Int64) throws(TenonError) {
        let wait: Int64? = state.withLock { state in
            if state.entries.count >= capacity, now >= state.nextDeadline { PendingActivations.sweep(&state, now) }
            guard state.entries.count < capacity else { return max(1, state.nextDeadline &- now) }
            state.entries[digest] = activation
            state.nextDeadline = min(state.nextDeadline, activation.deadline)
            return nil
        }
        guard let wait else { return }
        throw TenonError(
            .pendingFull, message: "Too many activations wait for their secrets.", retryAfter: .seconds(wait))
    }

    /// Takes an activation away: of all who ask for it, one gets it. Whether it has ended is seen where it is used.
    public func take(_ digest: Digest) -> PendingActivation? {
        state.withLock { $0.entries.removeValue(forKey: digest) }
    }

    /// Only when something has ended since the last time, however often it is full.
    private static func sweep(_ state: inout State, _ now: Int64) {
        state.entries = state.entries.filter { now < $0.value.deadline }
        state.nextDeadline = state.entries.values.lazy.map(\.deadline).min() ?? .max
    }
}
