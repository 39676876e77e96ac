// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import TenonTPM

/// The TPM of this process, which is left as it was found before the process ends.
enum OpenedTPM {
    private static let closing = Mutex<TPM.Closing?>(nil)
    private static let named = Mutex<String?>(nil)

    /// What it is called, once somebody wants it.
    static var name: String? { named.withLock { $0 } }

    static func remember(name: String) -> String {
        named.withLock { $0 = name }
        return name
    }

    static func remember(_ tpm: TPM) -> TPM {
        closing.withLock { $0 = tpm.closing }
        return tpm
    }

    /// Until it is let go of: by the tasks that have just ended, each in a thread of its own, and then by the TPM's.
    static func wait() async { await closing.withLock { $0 }?.wait() }
}
