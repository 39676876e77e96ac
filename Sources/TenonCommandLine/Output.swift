// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization
package import Tenon

/// Writes to the standard output and the standard error.
package enum Output {
    /// The errno of the first write to the standard output that failed.
    private static let failure = Mutex<Int32?>(nil)

    /// Writes a line of the answer.
    package static func line(_ text: String) { self.text(text + "\n") }

    /// Writes a part of the answer. A failure is reported by ``check()``.
    package static func text(_ text: String) {
        let number = write(text, to: 1)
        if number != 0 { failure.withLock { $0 = $0 ?? number } }
    }

    /// Writes a line to the standard error.
    package static func error(_ text: String) { _ = write(text + "\n", to: 2) }

    /// Checks that the whole answer was written.
    ///
    /// - Throws: ``TenonError/Code/output`` when a part of it was not.
    package static func check() throws(TenonError) {
        guard let number = failure.withLock({ $0 }) else { return }
        let why = String(cString: strerror(number))
        throw TenonError(
            .output,
            message: "The answer cannot be written to the standard output: \(why). What was done stays done.",
            mend: "Run it again with another output: a file on a disk with room, or a reader that waits.")
    }

    /// Prints an error: the cause, and below it the mend if there is one.
    package static func report(_ error: TenonError, of program: Program) {
        let indent = "\n" + String(repeating: " ", count: program.name.utf8.count + 2)
        let lines = [error.message, error.mend].compactMap { $0 }.flatMap { $0.split(separator: "\n") }
        self.error("\(program.name): \(lines.joined(separator: indent))")
    }

    /// Writes without a buffer, so that the reader of a pipe sees it at once.
    ///
    /// - Returns: zero, or the errno of what failed.
    private static func write(_ text: String, to file: Int32) -> Int32 {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            let number = count < 0 ? errno : count == 0 ? EIO : 0
            if number == EAGAIN {
                var wait = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
                poll(&wait, 1, -1)
            }
            if number == EINTR || number == EAGAIN { continue }
            guard number == 0 else { return number }
            bytes = bytes.dropFirst(count)
        }
        return 0
    }
}
