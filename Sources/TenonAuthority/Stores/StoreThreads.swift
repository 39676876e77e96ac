// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tenon

/// A thread of its own for work that blocks. It takes all that is waiting at once: what was added while it was busy is
/// the next batch, which is what makes one fsync serve many.
///
/// It ends with this value, or by ``end()``, when all that was added is done.
final class BatchThread<Item: Sendable>: Sendable {
    private let queue: BatchQueue<Item>

    /// - Parameters:
    ///   - perform: does a batch, in the order in which it was added.
    ///   - finish: called once, on the thread, when nothing comes any more; it lets go of what the thread used.
    /// - Throws: ``TenonError/Code/memory`` when there can be no thread; `finish` is not called then.
    init(
        perform: @escaping @Sendable ([Item]) -> Void, finish: @escaping @Sendable () -> Void = {}
    ) throws(TenonError) {
        queue = BatchQueue(perform: perform, finish: finish)
        try BlockingThread.start { [queue] in queue.run() }
    }

    deinit { queue.end(nil) }

    /// Adds work; false after ``end()``.
    func add(_ item: Item) -> Bool { queue.add(item) }

    /// Waits until all that was added is done and the thread has finished.
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
    // It counts what was ever added, so it may wake the thread for nothing.
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

    /// What is waiting, perhaps nothing; nil at the end.
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
/// They end with ``end()``, when all that was added is done.
final class JobThreads<Job: Sendable>: Sendable {
    enum Addition {
        case added
        case full
        /// Behind ``end()``.
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
    // It counts what was ever added, so it may wake a thread for nothing.
    private let changes = Semaphore()

    /// - Parameters:
    ///   - limit: jobs that wait at a time.
    ///   - perform: does one, on the thread of that number.
    ///   - finish: called once for each thread, on it, when nothing comes any more.
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

    /// Waits until all that was added is done and the threads have finished.
    func end() async {
        await withCheckedContinuation { close($0) }
    }

    /// The same, and tells when; nobody needs to wait for it.
    func close(_ continuation: CheckedContinuation<Void, Never>? = nil) {
        let threads = state.withLock { state in
            state.isOver = true
            if let continuation, state.threads > 0 { state.ending.append(continuation) }
            return state.threads
        }
        if threads == 0 { continuation?.resume() }
        for _ in 0..<threads { changes.signal() }
    }

    /// Nil at the end.
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

/// Lets one do something at a time, in the order in which they came.
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
