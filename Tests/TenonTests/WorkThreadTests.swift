// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

/// What the TPM's own tests do not see of the thread: ``AsyncTests`` has the rest.
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

    @Test func theThreadEnds() async throws {
        weak var queue: WorkQueue?
        do {
            let thread = WorkThread()
            queue = thread.queue
            #expect(try await thread.run { () throws(TenonError) in 1 } == 1)
        }
        while queue != nil { await Task.yield() }
    }

    /// A program that ends can wait for what its last work let go of.
    @Test func theEndOfTheThreadIsSeen() async throws {
        let queue: WorkQueue
        do {
            let thread = WorkThread()
            queue = thread.queue
            #expect(!queue.isRunning)
            try await thread.run { () throws(TenonError) in }
            #expect(queue.isRunning)
        }
        while queue.isRunning { await Task.yield() }
    }
}
