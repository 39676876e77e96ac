// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// The work of a ``WorkThread``, first come first served.
package final class WorkQueue: Sendable {
    /// Called once: on the thread in its turn, or with `isCancelled` where it was cancelled.
    package typealias Work = @Sendable (_ isCancelled: Bool) -> Void

    private struct State {
        var waiting: [(ticket: UInt64, work: Work)] = []
        var tickets: UInt64 = 0
        var isRunning = false
        var isOver = false
        var listeners: [@Sendable () -> Void] = []

        /// Those to be told, once there will be no thread any more.
        mutating func ended() -> [@Sendable () -> Void] {
            guard isOver, !isRunning else { return [] }
            defer { listeners = [] }
            return listeners
        }
    }

    private let state = Mutex(State())
    // It counts what was ever added, so it may wake the thread for nothing.
    private let changes = Semaphore()

    package init() {}

    /// Whether there is a thread.
    package var isRunning: Bool { state.withLock { $0.isRunning } }

    /// The name by which work can be cancelled.
    package func ticket() -> UInt64 {
        state.withLock { state in
            state.tickets += 1
            return state.tickets
        }
    }

    /// Adds work, and starts the thread with the first.
    ///
    /// - Throws: ``TenonError/Code/memory`` when there can be no thread; the work is not called then.
    package func add(_ ticket: UInt64, _ work: @escaping Work) throws(TenonError) {
        try state.withLock { state throws(TenonError) in
            if !state.isRunning { try BlockingThread.start { self.run() } }
            state.isRunning = true
            state.waiting.append((ticket, work))
        }
        changes.signal()
    }

    /// Cancels what was not begun; does nothing about the rest.
    package func cancel(_ ticket: UInt64) {
        let work: Work? = state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
            return state.waiting.remove(at: index).work
        }
        work?(true)
    }

    /// The thread ends when it has done what is waiting.
    package func end() {
        let listeners = state.withLock { state in
            state.isOver = true
            return state.ended()
        }
        changes.signal()
        for told in listeners { told() }
    }

    /// Tells when it has ended, and all that it had to do is done.
    package func whenEnded(_ told: @escaping @Sendable () -> Void) {
        let listeners = state.withLock { state in
            state.listeners.append(told)
            return state.ended()
        }
        for told in listeners { told() }
    }

    /// The thread's life.
    private func run() {
        while let work = next() { work(false) }
        let listeners = state.withLock { state in
            state.isRunning = false
            return state.ended()
        }
        for told in listeners { told() }
    }

    private func next() -> Work? {
        while true {
            changes.wait()
            let (work, isOver): (Work?, Bool) = state.withLock { state in
                state.waiting.isEmpty ? (nil, state.isOver) : (state.waiting.removeFirst().work, false)
            }
            if work != nil || isOver { return work }
        }
    }
}
