// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonCommandLine

/// SIGHUP, which a terminal sends that goes, and a service manager that reloads: it ends nothing, and is answered.
enum Hangup {
    // A semaphore is what a signal handler may touch.
    private nonisolated(unsafe) static let arrived: UnsafeMutablePointer<sem_t> = {
        let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
        return semaphore
    }()

    /// From now on each is noted.
    static func watch() {
        var action = sigaction()
        _ = arrived
        action.__sigaction_handler.sa_handler = { _ in sem_post(Hangup.arrived) }
        action.sa_flags = SA_RESTART
        sigaction(SIGHUP, &action, nil)
    }

    /// Answers those that have come and each that comes, until the process ends.
    static func answer() {
        let thread = WorkThread()
        Task {
            _ = try? await thread.run { () throws(TenonError) in
                while true {
                    while sem_wait(arrived) != 0 {}
                    Output.error(
                        "tenon-authority: SIGHUP: the configuration and certificates are read at a start: restart to "
                            + "take new ones.")
                }
            }
        }
    }
}
