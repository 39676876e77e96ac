// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon

/// Ctrl-C, and the signal that a service manager sends. The first asks the work to end, which then writes down what it
/// knows; the second, or 3 seconds, ends the process: no state is half-written, wherever that comes.
enum Interrupt {
    // A semaphore is what a signal handler may touch.
    private nonisolated(unsafe) static let arrived: UnsafeMutablePointer<sem_t> = {
        let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
        return semaphore
    }()

    /// Can be read when the work is asked to end: whoever waits for a file waits for this, too.
    static let pipe: (read: Int32, write: Int32) = {
        var ends: [Int32] = [-1, -1]
        Glibc.pipe(&ends)
        return (ends[0], ends[1])
    }()

    private static let patience = 3

    /// - Parameter ask: called with false first, with true when there is no more time.
    static func watch(_ ask: @escaping @Sendable (_ isLast: Bool) -> Void) {
        _ = (arrived, pipe)
        let box = Unmanaged.passRetained(Box(ask))
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Interrupt.wait(Unmanaged<Box>.fromOpaque(context).takeRetainedValue().ask)
                return nil
            }, box.toOpaque())
        pthread_detach(thread)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in sem_post(Interrupt.arrived) }
        action.sa_flags = SA_RESTART
        sigaction(SIGINT, &action, nil)
        sigaction(SIGTERM, &action, nil)
    }

    private final class Box: Sendable {
        let ask: @Sendable (Bool) -> Void
        init(_ ask: @escaping @Sendable (Bool) -> Void) { self.ask = ask }
    }

    private static func wait(_ ask: @Sendable (Bool) -> Void) {
        while sem_wait(arrived) != 0 {}
        ask(false)
        var byte: UInt8 = 0
        _ = write(pipe.write, &byte, 1)
        var end = timespec()
        clock_gettime(CLOCK_REALTIME, &end)
        end.tv_sec += patience
        while sem_timedwait(arrived, &end) != 0, errno == EINTR {}
        ask(true)
    }
}

extension TenonError {
    static let interrupted = TenonError(
        .outcomeUnknown, message: "Interrupted before the end was known; nothing is half-written.")
}
