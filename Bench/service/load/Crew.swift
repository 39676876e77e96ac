// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization
internal import Tenon

/// Threads that each have a connection, and do the numbered jobs of a phase, whoever is free the next one.
struct Crew {
    typealias Job = @Sendable (Int, Lines) throws(TenonError) -> Void

    let instances: [Instance]
    let connections: Int

    /// The instances as a worker has them: its own first.
    private func from(_ index: Int) -> [Instance] {
        let first = index % instances.count
        return Array(instances[first...] + instances[..<first])
    }

    /// Blocks until all jobs are done.
    ///
    /// - Parameter progress: asked now and then, with how many were begun.
    func run(_ count: Int, progress: (Int) -> Void = { _ in }, _ job: @escaping Job) -> Samples {
        let shift = Shift(count, job)
        let began = now()
        var threads: [pthread_t] = []
        for index in 0..<min(connections, count) {
            let worker = Unmanaged.passRetained(Worker(shift, from(index)))
            var thread = pthread_t()
            if pthread_create(&thread, nil, work, worker.toOpaque()) == 0 {
                threads.append(thread)
            } else {
                worker.release()
            }
        }
        while !shift.isOver(threads.count) {
            progress(shift.begun)
            shift.wait()
        }
        for thread in threads { pthread_join(thread, nil) }
        progress(count)
        var samples = shift.samples
        samples.seconds = Double(now() - began) / 1e9
        return samples
    }
}

/// What the threads of a phase share.
private final class Shift: Sendable {
    let count: Int
    let job: Crew.Job
    private let next = Atomic(0)
    private let ended = Atomic(0)
    private let all = Mutex(Samples())
    // What is counted: a hundredth that was begun, and each thread that has ended.
    private nonisolated(unsafe) let steps: UnsafeMutablePointer<sem_t>

    init(_ count: Int, _ job: @escaping Crew.Job) {
        self.count = count
        self.job = job
        steps = .allocate(capacity: 1)
        sem_init(steps, 0, 0)
    }

    deinit {
        sem_destroy(steps)
        steps.deallocate()
    }

    /// Until there is something new.
    func wait() { while sem_wait(steps) != 0 {} }

    var begun: Int { min(next.load(ordering: .relaxed), count) }
    var samples: Samples { all.withLock { $0 } }

    func isOver(_ threads: Int) -> Bool { ended.load(ordering: .relaxed) == threads }

    func take() -> Int? {
        let index = next.add(1, ordering: .relaxed).oldValue
        if index % max(1, count / 100) == 0 { sem_post(steps) }
        return index < count ? index : nil
    }

    func end(_ samples: Samples) {
        all.withLock { $0.add(samples) }
        ended.add(1, ordering: .relaxed)
        sem_post(steps)
    }
}

/// One thread.
private final class Worker {
    private let shift: Shift
    private let instances: [Instance]

    init(_ shift: Shift, _ instances: [Instance]) {
        self.shift = shift
        self.instances = instances
    }

    func run() {
        var samples = Samples()
        do throws(TenonError) {
            var lines = try Lines(instances)
            while let index = shift.take() {
                do throws(TenonError) {
                    try shift.job(index, lines)
                } catch {
                    samples.add(error)
                    samples.add(lines.samples)
                    lines = try Lines(instances)
                }
            }
            samples.add(lines.samples)
        } catch {
            samples.add(error)
        }
        shift.end(samples)
    }
}

private func work(_ worker: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let worker { Unmanaged<Worker>.fromOpaque(worker).takeRetainedValue().run() }
    return nil
}

/// Nanoseconds of CLOCK_MONOTONIC.
func now() -> UInt64 { nanoseconds(CLOCK_MONOTONIC) }

func nanoseconds(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
