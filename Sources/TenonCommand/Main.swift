// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization
internal import Tenon
internal import TenonCommandLine

@main struct Main {
    /// At most open at once: a pipe, a TPM or the daemon's bus, the folder with a lock and a record in it,
    /// and what libcurl has for a name, a connection and its CAs; and as many again for what a library does once.
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

/// How the program ends: once, whoever comes first.
struct Ending: Sendable {
    let isJSON: Bool
    private let turn = Turn()

    init(isJSON: Bool) { self.isJSON = isJSON }

    /// Says what came of it, or what went wrong, and ends with its category. Whoever comes second waits for the end that
    /// the first one makes.
    func end(with error: TenonError?) -> Never {
        guard turn.take() else { while true { pause() } }
        // Whoever reads may have stopped: nothing is left to be written down, so a signal may end this, too.
        Signals.forget()
        // Nothing is buffered, and what exit() takes down other threads may still use.
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
        let failure = Failure(error)
        if isJSON, error.code != .output { Output.line(failure.text) }
        do throws(TenonError) {
            if isJSON { try Output.check() } else { report(failure) }
        } catch {
            // To whom the standard output is lost it is said beside it.
            if failure.error.code != .output { report(failure) }
            report(Failure(error))
        }
        _exit(failure.error.code.category.rawValue)
    }

    private func report(_ failure: Failure) {
        Output.report(TenonError(failure.error.code, message: failure.lines.joined(separator: "\n")), of: .tenon)
    }
}

/// What only one may have.
final class Turn: Sendable {
    private let isTaken = Atomic(false)

    /// Whether nobody took it before.
    func take() -> Bool { !isTaken.exchange(true, ordering: .acquiringAndReleasing) }
}

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
