// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tenon

/// Lets one do something at a time, in the order in which they came.
final class Turns: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []

        mutating func next() -> CheckedContinuation<Void, Never>? {
            isTaken = !waiting.isEmpty
            return waiting.isEmpty ? nil : waiting.removeFirst()
        }
    }

    private let state = Mutex(State())

    func run(_ body: () async throws(TenonError) -> Void) async throws(TenonError) {
        await withCheckedContinuation { continuation in
            let isMine = state.withLock { state in
                if state.isTaken { state.waiting.append(continuation) }
                defer { state.isTaken = true }
                return !state.isTaken
            }
            if isMine { continuation.resume() }
        }
        defer { state.withLock { $0.next() }?.resume() }
        try await body()
    }
}
