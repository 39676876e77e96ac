// SPDX-License-Identifier: Apache-2.0
internal import CTenonProcess
internal import Glibc
package import Tenon

/// Sets up a process, as the first thing that a program does, while it has one thread.
package enum Launch {
    /// Establishes what the rest of the program relies on: descriptors 0, 1 and 2 are taken, a lost peer is an error
    /// and not a signal, no library reads the environment, enough descriptors are available, and the threads that run
    /// asynchronous code open none.
    ///
    /// - Parameter files: the most files that the program ever has open at once.
    /// - Throws: ``TenonError/Code/fileLimit``, ``TenonError/Code/memory``; ``TenonError/Code/options`` when the
    ///   command line cannot be read.
    package static func begin(files: Int) throws(TenonError) {
        // Otherwise the next file that is opened could become the standard output, and be overwritten.
        tenoni_process_fill()
        signal(SIGPIPE, SIG_IGN)
        guard given.count > 0 else {
            throw TenonError(
                .options, message: "The command line cannot be read.", mend: "Start the program with its name.")
        }
        try checkFiles(files)
        Environment.close()
        // tpm2-tss would print its warnings.
        setenv("TSS2_LOG", "all+NONE", 0)
        guard tenoni_process_run_jobs() != 0 else {
            throw TenonError(
                .memory, message: "No thread can be started.", mend: "Raise the limit of threads: ulimit -u")
        }
    }

    /// Runs asynchronous code that ends the process.
    package static func run(_ body: @escaping @Sendable () async -> Never) -> Never {
        Task.detached { await body() }
        while true { pause() }
    }

    /// The words after the program's name.
    package static var words: [String] { Array(given.dropFirst()) }

    private static var given: [String] {
        var words: UnsafePointer<UnsafeMutablePointer<CChar>?>?
        let count = tenoni_process_words(&words)
        return (0..<Int(count)).compactMap { index in words?[index].map { String(cString: $0) } }
    }

    /// Opens as many descriptors as are needed, and closes them again.
    private static func checkFiles(_ count: Int) throws(TenonError) {
        var files: [Int32] = []
        while files.count < count, case let file = fcntl(0, F_DUPFD_CLOEXEC, 3), file >= 0 { files.append(file) }
        for file in files { close(file) }
        guard files.count == count else {
            throw TenonError(
                .fileLimit,
                message: "This process may open \(files.count) more files, but needs \(count).",
                mend: "Raise the limit: ulimit -n \(max(64, count * 2))")
        }
    }
}

/// The environment of a program. At the start it removes the variables that a library would read by itself: a file to
/// write TLS keys to, another configuration or engine of OpenSSL, other trusted CAs, a proxy. Only a program's options
/// say whom it trusts.
package enum Environment {
    /// The variables that stay: those of Tenon, and those that locate a folder or a service or give a password.
    /// docs/threat-model.md has a line on each that a library reads.
    private static let kept = [
        "TENON_", "STATE_DIRECTORY", "XDG_STATE_HOME", "HOME", "NO_COLOR", "TERM", "TSS2_LOG",
        "DBUS_SYSTEM_BUS_ADDRESS", "DBUS_SESSION_BUS_ADDRESS", "PGPASSFILE", "PGPASSWORD", "SQLITE_TMPDIR", "TMPDIR",
    ]

    /// The value of a variable; nil when it is empty, or when the program has more rights than its user.
    package static func variable(_ name: String) -> String? {
        guard let value = tenoni_process_variable(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    /// Removes all other variables.
    static func close() {
        var names = kept.map { UnsafePointer<CChar>(strdup($0)) }
        defer { for name in names { free(UnsafeMutablePointer(mutating: name)) } }
        names.append(nil)
        tenoni_process_keep(names)
    }
}
