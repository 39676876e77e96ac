// SPDX-License-Identifier: Apache-2.0
internal import Tenon

extension TPM {
    /// Tells when a TPM is closed. A program waits for that before it ends: what a process leaves in a TPM that has no
    /// resource manager stays there.
    ///
    /// ```swift
    /// let closing = tpm.closing
    /// // ... and when nobody has the TPM, its keys and the identities over them any more:
    /// await closing.wait()
    /// ```
    public struct Closing: Sendable {
        fileprivate let queue: WorkQueue

        /// Returns when the TPM and all its keys are gone, and it holds nothing of them; at the latest after the limit.
        public func wait(atMost limit: Duration = .seconds(3)) async {
            let (ends, end) = AsyncStream.makeStream(of: Never.self)
            queue.whenEnded { end.finish() }
            let timer = Task {
                try await Task.sleep(for: limit)
                end.finish()
            }
            for await _ in ends {}
            timer.cancel()
        }
    }

    public var closing: Closing { Closing(queue: thread.queue) }
}
