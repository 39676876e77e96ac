// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import Testing

/// Properties of the thread that the TPM's tests do not cover: ``AsyncTests`` has the rest.
@Suite(.timeLimit(.minutes(1))) struct WorkThreadTests {
    @Test func firstComeFirstServed() async throws {
        let queue = WorkQueue()
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        for number in 0..<100 {
            try queue.add(queue.ticket()) { _ in
                continuation.yield(number)
                if number == 99 { continuation.finish() }
            }
        }
        queue.end()
        #expect(await stream.reduce(into: []) { $0.append($1) } == Array(0..<100))
    }

    /// Signals go only to the program's own threads.
    @Test func theThreadTakesNoSignals() async throws {
        let taken = try await WorkThread().run { () throws(TenonError) in
            var blocked = sigset_t()
            pthread_sigmask(SIG_SETMASK, nil, &blocked)
            return [SIGHUP, SIGINT, SIGTERM, SIGCHLD, SIGUSR1, SIGALRM].filter { sigismember(&blocked, $0) != 1 }
        }
        #expect(taken == [])
    }

    @Test func theThreadEnds() async throws {
        weak var queue: WorkQueue?
        do {
            let thread = WorkThread()
            queue = thread.queue
            #expect(try await thread.run { () throws(TenonError) in 1 } == 1)
        }
        while queue != nil { await Task.yield() }
    }

    /// A program that ends can wait for the release of its last work's objects.
    @Test func theEndIsToldWhenAllIsDone() async throws {
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        do {
            let thread = WorkThread()
            try await thread.run { () throws(TenonError) in }
            thread.queue.whenEnded {
                continuation.yield(2)
                continuation.finish()
            }
            _ = Lease(Dropped { continuation.yield(1) }, on: thread)
        }
        #expect(await stream.reduce(into: []) { $0.append($1) } == [1, 2])
    }

    @Test func theEndOfWhatNeverRanIsTold() async {
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        let queue = WorkQueue()
        queue.whenEnded { continuation.yield(2) }
        continuation.yield(1)
        queue.end()
        queue.whenEnded { continuation.finish() }
        #expect(await stream.reduce(into: []) { $0.append($1) } == [1, 2])
    }

    private final class Dropped: Sendable {
        let told: @Sendable () -> Void
        init(_ told: @escaping @Sendable () -> Void) { self.told = told }
        deinit { told() }
    }
}
