// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon

/// The signals that end the authority. (They cannot be blocked and waited for: the main thread of a program with
/// asynchronous code takes all of them.)
enum Signals {
    // A semaphore is what a signal handler may touch.
    private nonisolated(unsafe) static let arrived: UnsafeMutablePointer<sem_t> = {
        let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
        return semaphore
    }()

    /// The first of each is noted from now on; a second one ends the process: who asks twice does not want to wait.
    static func watch() {
        var action = sigaction()
        _ = arrived
        action.__sigaction_handler.sa_handler = { _ in sem_post(Signals.arrived) }
        action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | SA_RESTART
        sigaction(SIGTERM, &action, nil)
        sigaction(SIGINT, &action, nil)
    }

    /// Returns when one has come.
    static func wait(on thread: WorkThread) async {
        _ = try? await thread.run { () throws(TenonError) in
            while sem_wait(arrived) != 0 {}
        }
    }
}
