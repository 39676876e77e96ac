// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization
internal import Tenon

/// Counts the requests of each address and each app within the present minute, or of each device within the present
/// second (decision: shares).
///
/// Its size is limited: once it is full, new names share one count.
final class RequestRates: Sendable {
    private struct State {
        var window: Int64 = .min
        var counts: [String: Int] = [:]
    }

    private let capacity: Int
    /// Milliseconds.
    private let window: Int64
    private let state = Mutex(State())

    init(capacity: Int = 100_000, window: Int64 = 60_000) { (self.capacity, self.window) = (capacity, window) }

    /// Counts a request under a name.
    ///
    /// - Throws: ``Refusal/Code/rateLimited`` when the name has reached its limit.
    func count(_ name: String, limit: Int, at now: AuthorityInstant) throws(Refusal) {
        try take(1, name, limit: limit, at: now)
    }

    /// Does the same without counting.
    func check(_ name: String, limit: Int, at now: AuthorityInstant) throws(Refusal) {
        try take(0, name, limit: limit, at: now)
    }

    /// Undoes a count of this window.
    func giveBack(_ name: String, at now: AuthorityInstant) {
        state.withLock { state in
            guard state.window == now.boot / window, let count = state.counts[name], count > 0 else { return }
            state.counts[name] = count - 1
        }
    }

    private func take(_ places: Int, _ name: String, limit: Int, at now: AuthorityInstant) throws(Refusal) {
        let (window, left) = (now.boot / window, (window - now.boot % window + 999) / 1_000)
        let isTaken = state.withLock { state in
            if state.window != window { state = State(window: window) }
            let name = state.counts[name] == nil && state.counts.count >= capacity ? "" : name
            let count = state.counts[name, default: 0]
            guard count < limit else { return false }
            if places > 0 { state.counts[name] = count + places }
            return true
        }
        guard isTaken else { throw Refusal(.rateLimited, "Too many requests.", retryAfter: left) }
    }

    static func name(ofAddress address: String) -> String { "address " + Address.subscriber(address) }
}

/// Limits how many requests have certificates, credentials and proofs computed, or wait for that; further requests are
/// told to try again (decision: costly-signatures). The work has threads of its own, one fewer than there are cores. On
/// the cooperative pool, a few such requests would occupy a small machine entirely, and nothing could refuse further
/// ones.
package final class ActivationGate: Sendable {
    private let capacity: Int
    private let threads: [WorkThread]
    /// The number of requests at each thread.
    private let loads: Mutex<[Int]>

    init(capacity: Int, threads: Int = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) - 1)) {
        self.capacity = capacity
        self.threads = (0..<min(threads, capacity)).map { _ in WorkThread() }
        loads = Mutex(Array(repeating: 0, count: self.threads.count))
    }

    /// The number of requests that are computed or wait.
    var occupancy: Int { loads.withLock { $0.reduce(0, +) } }

    package func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(Refusal) -> Value
    ) async throws(Refusal) -> Value {
        let index: Int? = loads.withLock { loads in
            guard loads.reduce(0, +) < capacity else { return nil }
            let index = loads.indices.min { loads[$0] < loads[$1] }
            if let index { loads[index] += 1 }
            return index
        }
        guard let index else { throw Refusal(.unavailable, "Too many registrations are under way.", retryAfter: 1) }
        defer { loads.withLock { $0[index] -= 1 } }
        let thread = threads[index]
        let result = try await waiting { () throws(TenonError) in
            try await thread.run { () throws(TenonError) in Result(catching: body) }
        }
        return try result.get()
    }
}

/// Limits the places that one address may take, so that a few greedy addresses do not lock others out. Half of the
/// places are for anybody, and the other half for addresses that have less than their share.
package struct AddressShare: Equatable, Sendable {
    /// The number of places.
    package let places: Int
    /// The most places of one address when places are scarce.
    package let share: Int

    /// - Parameters:
    ///   - share: the operator's choice; nil divides the places by `parts`.
    package init(of places: Int, each share: Int?, parts: Int) {
        self.places = places
        self.share = share ?? max(1, places / parts)
    }

    package func isScarce(used: Int) -> Bool { used * 2 >= places }

    /// Whether an address that holds some places may have another one.
    package func admits(held: Int, used: Int) -> Bool { held < share || !isScarce(used: used) }

    /// The share of challenges, enough for the devices of one address that register at the same time.
    package static func challenges(_ places: Int, each share: Int? = nil) -> AddressShare {
        AddressShare(of: places, each: share, parts: 256)
    }

    package static func connections(_ places: Int, each share: Int? = nil) -> AddressShare {
        AddressShare(of: places, each: share, parts: 128)
    }
}
