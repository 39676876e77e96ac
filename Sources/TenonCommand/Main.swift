// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization
internal import Tenon
internal import TenonCommandLine

@main struct Main {
    /// The most files that are open at once: a pipe, a TPM or the daemon's bus, the folder with a lock and a record,
    /// libcurl's for a name, a connection and its CAs; and as many again as a reserve for libraries.
    private static let files = 32

    static func main() {
        let words = Launch.words
        let ending = Ending(isJSON: words.prefix { $0 != "--" }.contains("--json"))
        do throws(TenonError) { try Launch.begin(files: Main.files) } catch { ending.end(with: error) }
        Interrupt.begin()
        Launch.run { await work(words, ending) }
    }

    private static func work(_ words: [String], _ ending: Ending) async -> Never {
        let work = Task { () async -> TenonError? in
            do throws(TenonError) {
                try await Program.tenon.run(words)
                return nil
            } catch {
                return error
            }
        }
        Interrupt.watch { isLast in
            work.cancel()
            if isLast { ending.end(with: Answer.given == nil ? .interrupted : nil) }
        }
        let error = await work.value
        await OpenedTPM.wait()
        ending.end(with: error)
    }
}

/// Ends the program, once: the first caller decides how.
struct Ending: Sendable {
    let isJSON: Bool
    private let once = Once()

    init(isJSON: Bool) { self.isJSON = isJSON }

    /// Prints the answer or the error, and exits with its category. A second caller waits for the first one's exit.
    func end(with error: TenonError?) -> Never {
        guard once.take() else { while true { pause() } }
        // The reader may be stuck, and nothing is left to be saved, so from now on a signal may end the program.
        Signals.forget()
        // _exit(): nothing is buffered, and other threads may still use what exit() destroys.
        if let error { fail(error) }
        do throws(TenonError) {
            Output.text(Answer.given?.text ?? "")
            try Output.check()
        } catch {
            fail(error)
        }
        _exit(Answer.given?.code ?? 0)
    }

    private func fail(_ error: TenonError) -> Never {
        let failure = ErrorReport(error)
        if isJSON, error.code != .output { Output.line(failure.text) }
        do throws(TenonError) {
            if isJSON { try Output.check() } else { report(failure) }
        } catch {
            // The standard output failed, so the error goes to the standard error.
            if failure.error.code != .output { report(failure) }
            report(ErrorReport(error))
        }
        _exit(failure.error.code.category.rawValue)
    }

    private func report(_ failure: ErrorReport) {
        Output.report(TenonError(failure.error.code, message: failure.cause, mend: failure.mend), of: .tenon)
    }
}

/// A flag that only the first caller takes.
final class Once: Sendable {
    private let isTaken = Atomic(false)

    /// Takes the flag; true for the first caller only.
    func take() -> Bool { !isTaken.exchange(true, ordering: .acquiringAndReleasing) }
}

/// Handles Ctrl-C, the service manager's signal, and the end of the terminal. The first signal asks the work to end,
/// which then saves what it knows. The second one, or 3 seconds, ends the process; the state is never half-written.
enum Interrupt {
    /// Becomes readable when the work is asked to end, so that a wait for a file can watch it.
    static let pipe: (read: Int32, write: Int32) = {
        var ends: [Int32] = [-1, -1]
        Glibc.pipe(&ends)
        return (ends[0], ends[1])
    }()

    private static let patience = 3
    private static let thread = WorkThread()

    /// Starts to collect signals; called before any work.
    static func begin() {
        _ = pipe
        Signals.watch(.arrives, hangup: true)
    }

    /// Waits for signals on a thread.
    ///
    /// - Parameter ask: called with false for the first signal, and with true when the time is over.
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
        .outcomeUnknown, message: "Interrupted before the outcome was known. Nothing is half-written.")
}
