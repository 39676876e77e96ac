// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import TenonAuthority

@Suite(.timeLimit(.minutes(1))) struct JobThreadsTests {
    /// Up to the limit, jobs wait and are done in order, even if the threads end.
    @Test func asManyWaitAsMay() async throws {
        let (begun, goOn, done) = (Signal(), Signal(), Lines())
        let threads = try JobThreads<String>.start(1, limit: 2) { _, job in
            begun.send()
            goOn.wait()
            done.add(job)
        } finish: { number in
            done.add("thread \(number)")
        }
        func isAdded(_ job: String) -> Bool { if case .added = threads.add(job) { true } else { false } }
        #expect(isAdded("1"))
        begun.wait()
        #expect(isAdded("2") && isAdded("3"))
        guard case .full = threads.add("4") else { throw Surprise("there was room") }
        for _ in 0..<3 { goOn.send() }
        await threads.end()
        guard case .closed = threads.add("5") else { throw Surprise("it goes on") }
        #expect(done.all == ["1", "2", "3", "thread 0"])
    }
}

/// A gate that threads wait at.
private final class Signal: Sendable {
    private nonisolated(unsafe) let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit { semaphore.deallocate() }

    func send() { sem_post(semaphore) }

    func wait() { while sem_wait(semaphore) != 0 {} }
}
