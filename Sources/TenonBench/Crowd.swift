// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization
internal import Tenon

/// Threads that do the same at once, and stay.
final class Crowd: Sendable {
    typealias Work = @Sendable () throws(TenonError) -> Void

    private let threads: [WorkThread]
    private let work: Work
    private let failure = Mutex<TenonError?>(nil)
    // A semaphore is made for use by many threads.
    private nonisolated(unsafe) let done: UnsafeMutablePointer<sem_t>

    init(_ count: Int, _ work: @escaping Work) {
        threads = (0..<count).map { _ in WorkThread() }
        self.work = work
        done = .allocate(capacity: 1)
        sem_init(done, 0, 0)
    }

    deinit {
        sem_destroy(done)
        done.deallocate()
    }

    /// Each does it once; on return all have.
    func run() throws(TenonError) {
        failure.withLock { $0 = nil }
        // Not kept by the threads: what it holds is let go of in the caller's thread, which waits for them.
        let crowd = Unmanaged.passUnretained(self)
        var begun = 0
        for thread in threads {
            do throws(TenonError) {
                try thread.queue.add(thread.queue.ticket()) { _ in crowd._withUnsafeGuaranteedRef { $0.once() } }
                begun += 1
            } catch {
                failure.withLock { $0 = error }
            }
        }
        for _ in 0..<begun {
            while sem_wait(done) != 0 {}
        }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    /// Nothing is touched once it is said that this is done.
    private func once() {
        attempt()
        sem_post(done)
    }

    private func attempt() {
        do throws(TenonError) { try work() } catch { failure.withLock { $0 = error } }
    }
}
