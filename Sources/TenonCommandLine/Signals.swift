// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon

/// The signals that ask a program to end: Ctrl-C, the service manager's, and for a program that serves nobody, the end
/// of its terminal. They cannot be blocked and waited for, as the main thread of a program with asynchronous code takes
/// all of them.
package enum Signals {
    /// The effect of the second signal of a kind.
    package enum Second: Sendable {
        /// It ends the process at once.
        case ends
        /// It arrives in ``wait(atMost:)``, as the first does.
        case arrives
    }

    // A signal handler may post a semaphore.
    private nonisolated(unsafe) static let arrived: UnsafeMutablePointer<sem_t> = {
        let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
        return semaphore
    }()

    /// Begins to collect the signals.
    ///
    /// - Parameter hangup: whether SIGHUP is one of them. When nohup had it ignored, it stays ignored.
    package static func watch(_ second: Second, hangup: Bool = false) {
        var action = sigaction()
        _ = arrived
        action.__sigaction_handler.sa_handler = { _ in sem_post(Signals.arrived) }
        action.sa_flags = SA_RESTART | (second == .ends ? Int32(bitPattern: UInt32(SA_RESETHAND)) : 0)
        sigaction(SIGTERM, &action, nil)
        sigaction(SIGINT, &action, nil)
        if hangup, !isIgnored(SIGHUP) { sigaction(SIGHUP, &action, nil) }
    }

    /// Restores the default: each signal ends the process.
    package static func forget() {
        for number in [SIGTERM, SIGINT, SIGHUP] where !isIgnored(number) { signal(number, SIG_DFL) }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    /// Blocks until a signal arrives, or until the seconds are over.
    package static func wait(atMost seconds: Int? = nil) {
        guard let seconds else {
            while sem_wait(arrived) != 0 {}
            return
        }
        var end = timespec()
        clock_gettime(CLOCK_REALTIME, &end)
        end.tv_sec += seconds
        while sem_timedwait(arrived, &end) != 0, errno == EINTR {}
    }
}
