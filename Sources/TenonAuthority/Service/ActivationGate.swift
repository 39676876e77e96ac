// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization
internal import Tenon

/// How many requests may have certificates, credentials and proofs computed or waiting for it: who asks for more is
/// told to come again (decision: costly-signatures). It is done on threads of its own, as many as leave a core for the
/// others: on the cooperative pool a few such requests would be all that a small machine does, and nobody would be
/// there to refuse more.
final class ActivationGate: Sendable {
    private let capacity: Int
    private let threads: [WorkThread]
    /// What each thread has to do.
    private let loads: Mutex<[Int]>

    init(capacity: Int, threads: Int = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) - 1)) {
        self.capacity = capacity
        self.threads = (0..<min(threads, capacity)).map { _ in WorkThread() }
        loads = Mutex(Array(repeating: 0, count: self.threads.count))
    }

    /// How many are inside.
    var occupancy: Int { loads.withLock { $0.reduce(0, +) } }

    func run<Value: Sendable>(
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
