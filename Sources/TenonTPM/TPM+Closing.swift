// SPDX-License-Identifier: Apache-2.0
internal import Tenon

extension TPM {
    /// Tells when a TPM is closed. A program that may be ended in the middle of a call waits for that before it ends:
    /// what a call has loaded in a TPM that has no resource manager is flushed when it is over, and not before. Whoever
    /// has the results of all calls leaves nothing behind, and need not wait.
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
