// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// How many requests may have certificates, credentials and proofs computed at a time (security.md A5): who asks for
/// more is told to come again, so that requests that cost little are always answered.
final class ActivationGate: Sendable {
    private let capacity: Int
    private let running = Mutex(0)

    init(capacity: Int) { self.capacity = capacity }

    func run<Value>(_ body: () throws(Refusal) -> Value) throws(Refusal) -> Value {
        let isIn = running.withLock { running in
            guard running < capacity else { return false }
            running += 1
            return true
        }
        guard isIn else { throw Refusal(.unavailable, "Too many registrations are under way.", retryAfter: 1) }
        defer { running.withLock { $0 -= 1 } }
        return try body()
    }
}
