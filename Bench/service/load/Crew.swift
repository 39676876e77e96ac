// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization
internal import Tenon
internal import TenonBench

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

    /// Blocks until all jobs are done. A terminal sees how far a phase with a name is.
    func run(_ count: Int, as phase: String? = nil, _ job: @escaping Job) -> Samples {
        let shift = Shift(isatty(2) == 1 ? phase : nil, count, job)
        let began = BenchClock.wall.now
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
        for thread in threads { pthread_join(thread, nil) }
        var samples = shift.all.withLock { $0 }
        samples.seconds = (BenchClock.wall.now - began) / 1e9
        return samples
    }
}

/// What the threads of a phase share.
private final class Shift: Sendable {
    let job: Crew.Job
    let all = Mutex(Samples())
    private let phase: String?
    private let count: Int
    private let next = Atomic(0)

    init(_ phase: String?, _ count: Int, _ job: @escaping Crew.Job) {
        (self.phase, self.count, self.job) = (phase, count, job)
    }

    func take() -> Int? {
        let index = next.add(1, ordering: .relaxed).oldValue
        if let phase, index <= count, index % max(1, count / 100) == 0 || index == count {
            let text = "\r\(phase) \(index) of \(count)\(index == count ? "\n" : "")"
            _ = write(2, text, text.utf8.count)
        }
        return index < count ? index : nil
    }
}

/// One thread.
private final class Worker {
    private let shift: Shift
    private let instances: [Instance]

    init(_ shift: Shift, _ instances: [Instance]) { (self.shift, self.instances) = (shift, instances) }

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
        shift.all.withLock { [samples] all in all.add(samples) }
    }
}

private func work(_ worker: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let worker { Unmanaged<Worker>.fromOpaque(worker).takeRetainedValue().run() }
    return nil
}
