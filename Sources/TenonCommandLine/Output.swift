// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import Tenon

/// What people and machines read.
package enum Output {
    package static func line(_ text: String) { self.text(text + "\n") }

    package static func text(_ text: String) { write(text, to: 1) }

    package static func error(_ text: String) { write(text + "\n", to: 2) }

    /// What went wrong: the cause, and below it the mend, if it has a line of its own.
    package static func report(_ error: TenonError, of program: Program) {
        let indent = "\n" + String(repeating: " ", count: program.name.utf8.count + 2)
        let lines = error.message.split(separator: "\n")
        self.error("\(program.name): \(lines.joined(separator: indent))")
    }

    /// What is read at the other end of a pipe is seen at once.
    package static func write(_ text: String, to file: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
