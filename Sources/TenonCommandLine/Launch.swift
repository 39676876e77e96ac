// SPDX-License-Identifier: Apache-2.0
internal import CTenonProcess
internal import Glibc
package import Tenon

/// The first thing that a program does, while it has one thread.
package enum Launch {
    /// Makes a process what the rest of the program takes for granted: 0, 1 and 2 are no files of its own, a peer that
    /// is gone is an error, no library reads the environment, there are as many descriptors as are ever needed, and no
    /// timer of the runtime needs one.
    ///
    /// - Parameter files: the most that the program ever has open at once.
    /// - Throws: ``TenonError/Code/fileLimit``, ``TenonError/Code/memory``; ``TenonError/Code/options`` where nobody can
    ///   see what was typed.
    package static func begin(files: Int) throws(TenonError) {
        // Else the next file that is opened would be the standard output, and be written into.
        tenoni_process_fill()
        signal(SIGPIPE, SIG_IGN)
        guard given.count > 0 else {
            throw TenonError(.options, message: "What was typed cannot be read.\nBegin the program by its name.")
        }
        try checkFiles(files)
        Environment.close()
        // tpm2-tss prints what it meets, and says nothing by itself.
        setenv("TSS2_LOG", "all+NONE", 0)
        guard tenoni_process_run_jobs() != 0 else {
            throw TenonError(.memory, message: "No thread can be started.\nRaise the limit of threads: ulimit -u")
        }
    }

    /// Runs asynchronous code, which ends the process.
    package static func run(_ body: @escaping @Sendable () async -> Never) -> Never {
        Task.detached { await body() }
        while true { pause() }
    }

    /// What was typed behind the program's name.
    package static var words: [String] { Array(given.dropFirst()) }

    private static var given: [String] {
        var words: UnsafePointer<UnsafeMutablePointer<CChar>?>?
        let count = tenoni_process_words(&words)
        return (0..<Int(count)).compactMap { index in words?[index].map { String(cString: $0) } }
    }

    /// Takes as many as are needed, and gives them back.
    private static func checkFiles(_ count: Int) throws(TenonError) {
        var files: [Int32] = []
        while files.count < count, case let file = fcntl(0, F_DUPFD_CLOEXEC, 3), file >= 0 { files.append(file) }
        for file in files { close(file) }
        guard files.count == count else {
            throw TenonError(
                .fileLimit,
                message: "This process may open \(files.count) more files, and needs \(count).\n"
                    + "Raise the limit: ulimit -n \(max(64, count * 2))")
        }
    }
}
