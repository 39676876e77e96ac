// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization

/// Lets a task wait without a descriptor. The runtime's own waits create descriptors at their first use and end the
/// process if they get none, so clients that hold all descriptors of a server would end it. These need one thread.
package enum Sleep {
    private static let sleepers = Sleepers()

    /// Waits until a moment.
    ///
    /// - Throws: when the task is cancelled, at once.
    package static func until(_ end: ContinuousClock.Instant) async throws(CancellationError) {
        let sleeper = Sleeper(end)
        guard sleepers.add(sleeper) else {
            // There can be no other thread. What the runtime has to offer is better than no wait.
            guard (try? await Task.sleep(until: end, clock: .continuous)) != nil else { throw CancellationError() }
            return
        }
        let isOver = await withTaskCancellationHandler {
            await withCheckedContinuation { sleeper.sleep($0) }
        } onCancel: {
            sleeper.wake(isOver: false)
        }
        if !isOver { throw CancellationError() }
    }

    /// Waits for a time.
    ///
    /// - Throws: when the task is cancelled, at once.
    package static func lasting(_ time: Duration) async throws(CancellationError) {
        try await until(.now.advanced(by: time))
    }
}

/// One wait of one task.
private final class Sleeper: Sendable {
    private enum Stage {
        case new
        case asleep(CheckedContinuation<Bool, Never>)
        case awake(isOver: Bool)
    }

    let end: ContinuousClock.Instant
    private let stage = Mutex(Stage.new)

    init(_ end: ContinuousClock.Instant) { self.end = end }

    var isAwake: Bool {
        stage.withLock { if case .awake = $0 { true } else { false } }
    }

    func sleep(_ continuation: CheckedContinuation<Bool, Never>) {
        let isOver: Bool? = stage.withLock { stage in
            if case .awake(let isOver) = stage { return isOver }
            stage = .asleep(continuation)
            return nil
        }
        if let isOver { continuation.resume(returning: isOver) }
    }

    /// Only the first call counts.
    func wake(isOver: Bool) {
        let continuation: CheckedContinuation<Bool, Never>? = stage.withLock { stage in
            if case .awake = stage { return nil }
            defer { stage = .awake(isOver: isOver) }
            return if case .asleep(let continuation) = stage { continuation } else { nil }
        }
        continuation?.resume(returning: isOver)
    }
}

/// All waits of the process, and the thread that ends them.
private final class Sleepers: Sendable {
    private struct Waits {
        var all: [Sleeper] = []
        /// How many there may be before those that were cancelled are taken out.
        var most = 64
        /// When the thread looks again; nil while nobody sleeps.
        var next: ContinuousClock.Instant?
        var hasThread = false

        mutating func add(_ sleeper: Sleeper) {
            if all.count >= most {
                all.removeAll { $0.isAwake }
                most = max(64, 2 * all.count)
            }
            all.append(sleeper)
        }

        mutating func takeDue(at now: ContinuousClock.Instant) -> [Sleeper] {
            let due = all.filter { $0.end <= now }
            all.removeAll { $0.end <= now || $0.isAwake }
            next = all.map(\.end).min()
            return due
        }
    }

    private let waits = Mutex(Waits())
    private let changed = Bell()

    /// False when there can be no thread.
    func add(_ sleeper: Sleeper) -> Bool {
        let (hasThread, isSooner) = waits.withLock { waits in
            if !waits.hasThread {
                waits.hasThread = (try? BlockingThread.start { self.run() }) != nil
            }
            guard waits.hasThread else { return (false, false) }
            waits.add(sleeper)
            let isSooner = waits.next.map { sleeper.end < $0 } ?? true
            if isSooner { waits.next = sleeper.end }
            return (true, isSooner)
        }
        if isSooner { changed.ring() }
        return hasThread
    }

    private func run() {
        while true {
            let (due, next) = waits.withLock { ($0.takeDue(at: .now), $0.next) }
            for sleeper in due { sleeper.wake(isOver: true) }
            changed.wait(until: next)
        }
    }
}

/// Wakes one thread.
private final class Bell: Sendable {
    // Both are made for use by many threads.
    private nonisolated(unsafe) let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private nonisolated(unsafe) let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// Under the mutex.
    private nonisolated(unsafe) var hasRung = false

    init() {
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // The wall clock may be set.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func ring() {
        pthread_mutex_lock(mutex)
        hasRung = true
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Waits until it rings, or until a moment. It may return after ten seconds already: its clock stands still while
    /// the machine sleeps.
    func wait(until end: ContinuousClock.Instant?) {
        let left = end.map { min(max($0 - .now, .zero), .seconds(10)).components }
        var time = timespec()
        if let left {
            clock_gettime(CLOCK_MONOTONIC, &time)
            let nanoseconds = time.tv_nsec + Int(left.attoseconds / 1_000_000_000)
            time.tv_sec += Int(left.seconds) + nanoseconds / 1_000_000_000
            time.tv_nsec = nanoseconds % 1_000_000_000
        }
        pthread_mutex_lock(mutex)
        while !hasRung {
            guard left != nil else {
                pthread_cond_wait(condition, mutex)
                continue
            }
            if pthread_cond_timedwait(condition, mutex, &time) != 0 { break }
        }
        hasRung = false
        pthread_mutex_unlock(mutex)
    }
}
