// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tenon
internal import TenonTPM

/// The TPM of this process, which is left as it was found before the process ends.
enum OpenedTPM {
    private struct Opened: Sendable {
        weak let tpm: TPM?
        let thread: WorkThread
    }

    private static let opened = Mutex<Opened?>(nil)

    static func remember(_ tpm: TPM) -> TPM {
        opened.withLock { $0 = Opened(tpm: tpm, thread: tpm.releasing) }
        return tpm
    }

    /// Until it is let go of: by the tasks that have just ended, each in its thread, and then by its own thread.
    static func wait() async {
        guard let opened = opened.withLock({ $0 }) else { return }
        let limit = ContinuousClock.now + .seconds(1)
        while opened.tpm != nil, ContinuousClock.now < limit { await Task.yield() }
        _ = try? await opened.thread.run { () throws(TenonError) in }
    }
}
