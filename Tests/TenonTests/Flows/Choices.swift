// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Choices that a search makes in every way. The drawn numbers identify a run.
final class Choices: Sendable {
    private struct State {
        var planned: [Int] = []
        var made: [(number: Int, count: Int)] = []
    }

    private let state = Mutex(State())

    /// Whether this run is the first to get here.
    var isNew: Bool { state.withLock { $0.made.count >= $0.planned.count } }

    /// A number below the count: 0 if this run is the first to get here.
    func choose(_ count: Int) -> Int {
        state.withLock { state in
            let index = state.made.count
            let number = index < state.planned.count ? state.planned[index] : 0
            state.made.append((number, count))
            return number
        }
    }

    /// Begins the next run; false after the last.
    func next() -> Bool {
        state.withLock { state in
            while let last = state.made.popLast() {
                guard last.number + 1 < last.count else { continue }
                state.planned = state.made.map(\.number) + [last.number + 1]
                state.made = []
                return true
            }
            return false
        }
    }
}
