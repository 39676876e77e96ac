// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// How often each address and each app asked within this minute (decision: shares).
///
/// It is bounded: where as many names as it holds came within a minute, those that are new share one count.
final class RequestRates: Sendable {
    private struct State {
        var minute: Int64 = .min
        var counts: [String: Int] = [:]
    }

    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int = 100_000) { self.capacity = capacity }

    /// Counts a request of a name.
    ///
    /// - Throws: ``Refusal/Code/rateLimited`` when there were as many as there may be.
    func count(_ name: String, limit: Int, at now: AuthorityInstant) throws(Refusal) {
        let (minute, left) = (now.boot / 60_000, 60 - now.boot / 1_000 % 60)
        let isTaken = state.withLock { state in
            if state.minute != minute { state = State(minute: minute) }
            let name = state.counts[name] == nil && state.counts.count >= capacity ? "" : name
            let count = state.counts[name, default: 0]
            guard count < limit else { return false }
            state.counts[name] = count + 1
            return true
        }
        guard isTaken else { throw Refusal(.rateLimited, "There were too many requests.", retryAfter: left) }
    }

    static func name(ofAddress address: String) -> String { "address " + Address.subscriber(address) }
}
