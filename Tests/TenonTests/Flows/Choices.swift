// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What may go one way or another, so that a search can go each way: a run is known by the numbers that it drew.
final class Choices: Sendable {
    private struct State {
        var planned: [Int] = []
        var made: [(number: Int, count: Int)] = []
    }

    private let state = Mutex(State())

    /// Whether no earlier run came here.
    var isNew: Bool { state.withLock { $0.made.count >= $0.planned.count } }

    /// A number below the count: 0 where this run is the first to come here.
    func choose(_ count: Int) -> Int {
        state.withLock { state in
            let index = state.made.count
            let number = index < state.planned.count ? state.planned[index] : 0
            state.made.append((number, count))
            return number
        }
    }

    /// Goes on to the next run; false when there was every one.
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
