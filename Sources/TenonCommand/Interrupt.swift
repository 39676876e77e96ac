// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonCommandLine

/// Ctrl-C, the signal that a service manager sends, and a terminal that is gone. The first asks the work to end, which then writes down what it
/// knows; the second, or 3 seconds, ends the process: no state is half-written, wherever that comes.
enum Interrupt {
    /// Can be read when the work is asked to end: whoever waits for a file waits for this, too.
    static let pipe: (read: Int32, write: Int32) = {
        var ends: [Int32] = [-1, -1]
        Glibc.pipe(&ends)
        return (ends[0], ends[1])
    }()

    private static let patience = 3
    private static let thread = WorkThread()

    /// Before anything is begun that must not end anywhere.
    static func begin() {
        _ = pipe
        Signals.watch(.arrives, hangup: true)
    }

    /// - Parameter ask: called with false first, with true when there is no more time.
    static func watch(_ ask: @escaping @Sendable (_ isLast: Bool) -> Void) {
        do throws(TenonError) {
            try thread.queue.add(thread.queue.ticket()) { _ in
                Signals.wait()
                ask(false)
                var byte: UInt8 = 0
                _ = write(pipe.write, &byte, 1)
                Signals.wait(atMost: patience)
                ask(true)
            }
        } catch {
            Signals.forget()
        }
    }
}

extension TenonError {
    static let interrupted = TenonError(
        .outcomeUnknown, message: "Interrupted before the end was known; nothing is half-written.")
}
