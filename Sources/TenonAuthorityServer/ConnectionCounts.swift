// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import TenonAuthority

/// The connections that each asker has open (security.md F4).
final class ConnectionCounts: Sendable {
    private let limit: Int
    private let counts = Mutex([String: Int]())

    init(limit: Int) { self.limit = limit }

    /// Whether one more may come from an address.
    func enter(_ address: String) -> Bool {
        let asker = Address.subscriber(address)
        return counts.withLock { counts in
            guard counts[asker, default: 0] < limit else { return false }
            counts[asker, default: 0] += 1
            return true
        }
    }

    /// One that came in has gone.
    func leave(_ address: String) {
        let asker = Address.subscriber(address)
        counts.withLock { counts in
            let left = counts[asker, default: 0] - 1
            counts[asker] = left > 0 ? left : nil
        }
    }
}
