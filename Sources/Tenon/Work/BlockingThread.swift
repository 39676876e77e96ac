// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A thread for work that blocks, beside Swift's cooperative pool. It ends with its work, and nobody waits for it.
package enum BlockingThread {
    /// Starts one. It takes no signals: they are for the program's own threads.
    ///
    /// - Throws: ``TenonError/Code/memory`` when there can be no thread; the work is not called then.
    package static func start(_ work: @escaping @Sendable () -> Void) throws(TenonError) {
        var all = sigset_t()
        var before = sigset_t()
        var thread = pthread_t()
        let carried = Unmanaged.passRetained(CarriedWork(work))
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        let error = pthread_create(&thread, nil, runCarriedWork, carried.toOpaque())
        pthread_sigmask(SIG_SETMASK, &before, nil)
        guard error == 0 else {
            carried.release()
            throw TenonError(.memory, message: "No thread can be started. Raise the limit of threads.")
        }
        pthread_detach(thread)
    }
}

/// A box that pthread_create can carry.
private final class CarriedWork {
    let run: () -> Void

    init(_ run: @escaping () -> Void) { self.run = run }
}

private func runCarriedWork(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let work else { return nil }
    Unmanaged<CarriedWork>.fromOpaque(work).takeRetainedValue().run()
    return nil
}

/// A count that threads wait for. Waiting blocks the caller's thread.
package final class Semaphore: Sendable {
    // A semaphore is made for use by many threads.
    private nonisolated(unsafe) let count: UnsafeMutablePointer<sem_t>

    /// A count of zero.
    package init() {
        count = .allocate(capacity: 1)
        sem_init(count, 0, 0)
    }

    deinit {
        sem_destroy(count)
        count.deallocate()
    }

    /// Adds one, which lets one thread continue.
    package func signal() { sem_post(count) }

    /// Takes one away, as soon as there is one.
    package func wait() {
        while sem_wait(count) != 0 {}
    }
}
