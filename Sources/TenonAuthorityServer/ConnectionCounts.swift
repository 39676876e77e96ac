// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import TenonAuthority

/// The connections that each asker has open, so that a few of them do not have all.
final class ConnectionCounts: Sendable {
    private struct State {
        var counts: [String: Int] = [:]
        var used = 0
    }

    private let share: AddressShare
    /// Addresses by which many come: those of proxies.
    private let shared: Set<String>
    private let state = Mutex(State())

    init(_ share: AddressShare, shared: Set<String> = []) {
        self.share = share
        self.shared = shared
    }

    /// Whether one more may come from an address.
    func enter(_ address: String) -> Bool {
        let asker = Address.subscriber(address)
        return state.withLock { state in
            let held = state.counts[asker, default: 0]
            guard shared.contains(address) || share.admits(held: held, used: state.used) else { return false }
            state.counts[asker] = held + 1
            state.used += 1
            return true
        }
    }

    /// One that came in has gone.
    func leave(_ address: String) {
        let asker = Address.subscriber(address)
        state.withLock { state in
            let left = state.counts[asker, default: 0] - 1
            state.counts[asker] = left > 0 ? left : nil
            state.used -= 1
        }
    }
}
