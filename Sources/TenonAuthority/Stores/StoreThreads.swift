// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tenon

/// A thread for work that blocks. It takes everything that waits as one batch, so that one fsync serves all the work
/// that was added while the thread was busy.
///
/// The thread ends with this value, or by ``end()``, once all the work is done.
final class BatchThread<Item: Sendable>: Sendable {
    private let queue: BatchQueue<Item>

    /// - Parameters:
    ///   - perform: does a batch, in the order in which its elements were added.
    ///   - finish: called once, on the thread, after the last batch, to release what the thread used.
    /// - Throws: ``TenonError/Code/memory`` when no thread can be started; then `finish` is not called.
    init(
        perform: @escaping @Sendable ([Item]) -> Void, finish: @escaping @Sendable () -> Void = {}
    ) throws(TenonError) {
        queue = BatchQueue(perform: perform, finish: finish)
        try BlockingThread.start { [queue] in queue.run() }
    }

    deinit { queue.end(nil) }

    /// Adds work. Returns false after ``end()``.
    func add(_ item: Item) -> Bool { queue.add(item) }

    /// Waits until all the work is done and the thread has finished.
    func end() async {
        await withCheckedContinuation { queue.end($0) }
    }
}

private final class BatchQueue<Item: Sendable>: Sendable {
    private struct State {
        var waiting: [Item] = []
        var isOver = false
        var hasFinished = false
        var ending: [CheckedContinuation<Void, Never>] = []
    }

    private let perform: @Sendable ([Item]) -> Void
    private let finish: @Sendable () -> Void
    private let state = Mutex(State())
    // The semaphore counts every addition, so it may wake the thread for nothing.
    private let changes = Semaphore()

    init(perform: @escaping @Sendable ([Item]) -> Void, finish: @escaping @Sendable () -> Void) {
        self.perform = perform
        self.finish = finish
    }

    func add(_ item: Item) -> Bool {
        let isTaken = state.withLock { state in
            if !state.isOver { state.waiting.append(item) }
            return !state.isOver
        }
        if isTaken { changes.signal() }
        return isTaken
    }

    func end(_ continuation: CheckedContinuation<Void, Never>?) {
        let hasFinished = state.withLock { state in
            state.isOver = true
            if let continuation, !state.hasFinished { state.ending.append(continuation) }
            return state.hasFinished
        }
        if hasFinished { continuation?.resume() }
        changes.signal()
    }

    func run() {
        while let batch = next() {
            if !batch.isEmpty { perform(batch) }
        }
        finish()
        let ending = state.withLock { state in
            state.hasFinished = true
            return state.ending
        }
        for continuation in ending { continuation.resume() }
    }

    /// The waiting work, which may be empty; nil at the end.
    private func next() -> [Item]? {
        changes.wait()
        return state.withLock { state in
            if state.isOver && state.waiting.isEmpty { return nil }
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}

/// Threads for work that blocks, which share one queue. The queue is bounded, so that callers do not wait long for a
/// database that has stopped answering.
///
/// They end with ``end()``, once all the jobs are done.
final class JobThreads<Job: Sendable>: Sendable {
    enum Addition {
        case added
        case full
        /// ``end()`` was called.
        case closed
    }

    private struct State {
        var waiting: [Job] = []
        var threads = 0
        var isOver = false
        var ending: [CheckedContinuation<Void, Never>] = []
    }

    private let limit: Int
    private let state = Mutex(State())
    // The semaphore counts every addition, so it may wake a thread for nothing.
    private let changes = Semaphore()

    /// - Parameters:
    ///   - limit: the most jobs that may wait.
    ///   - perform: does one job, on the thread with that number.
    ///   - finish: called once on each thread, after its last job.
    /// - Throws: ``TenonError/Code/memory``.
    static func start(
        _ count: Int, limit: Int, perform: @escaping @Sendable (Int, Job) -> Void,
        finish: @escaping @Sendable (Int) -> Void
    ) throws(TenonError) -> JobThreads {
        let threads = JobThreads(limit: limit)
        do throws(TenonError) {
            for number in 0..<count {
                threads.state.withLock { $0.threads += 1 }
                try BlockingThread.start {
                    while let job = threads.next() { perform(number, job) }
                    finish(number)
                    threads.finishThread()
                }
            }
        } catch {
            threads.finishThread()
            threads.close()
            throw error
        }
        return threads
    }

    private init(limit: Int) { self.limit = limit }

    func add(_ job: Job) -> Addition {
        let addition: Addition = state.withLock { state in
            if state.isOver { return .closed }
            if state.waiting.count >= limit { return .full }
            state.waiting.append(job)
            return .added
        }
        if case .added = addition { changes.signal() }
        return addition
    }

    /// Waits until all the jobs are done and the threads have finished.
    func end() async {
        await withCheckedContinuation { close($0) }
    }

    /// Ends the threads without waiting, and calls back when they have finished.
    func close(_ continuation: CheckedContinuation<Void, Never>? = nil) {
        let threads = state.withLock { state in
            state.isOver = true
            if let continuation, state.threads > 0 { state.ending.append(continuation) }
            return state.threads
        }
        if threads == 0 { continuation?.resume() }
        for _ in 0..<threads { changes.signal() }
    }

    /// The next job; nil at the end.
    private func next() -> Job? {
        while true {
            changes.wait()
            let (job, isOver): (Job?, Bool) = state.withLock { state in
                state.waiting.isEmpty ? (nil, state.isOver) : (state.waiting.removeFirst(), false)
            }
            if job != nil || isOver { return job }
        }
    }

    private func finishThread() {
        let ending = state.withLock { state in
            state.threads -= 1
            defer { if state.threads == 0 { state.ending = [] } }
            return state.threads == 0 ? state.ending : []
        }
        for continuation in ending { continuation.resume() }
    }
}

/// Lets one caller at a time in, in the order in which they came.
final class AsyncLock: Sendable {
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
