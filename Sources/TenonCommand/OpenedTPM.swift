// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tenon
internal import TenonTPM

/// The TPM of this process, which is left as it was found before the process ends.
enum OpenedTPM {
    private struct Opened: Sendable {
        weak let thread: WorkThread?
        let queue: WorkQueue
    }

    private static let opened = Mutex<Opened?>(nil)

    static func remember(_ tpm: TPM) -> TPM {
        opened.withLock { $0 = Opened(thread: tpm.releasing, queue: tpm.releasing.queue) }
        return tpm
    }

    /// Until it is let go of: by the tasks that have just ended, each in a thread of its own, and then by the TPM's.
    static func wait() async {
        guard let opened = opened.withLock({ $0 }) else { return }
        let limit = ContinuousClock.now + .seconds(3)
        while opened.thread != nil || opened.queue.isRunning, ContinuousClock.now < limit {
            try? await Task.sleep(for: .milliseconds(1))
        }
    }
}
