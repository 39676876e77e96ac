// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonCommandLine

@main struct Main {
    static func main() async {
        Interrupt.begin()
        // A peer that is gone is an error where it is written to; and tpm2-tss says nothing by itself.
        signal(SIGPIPE, SIG_IGN)
        setenv("TSS2_LOG", "all+NONE", 0)
        let words = Array(CommandLine.arguments.dropFirst())
        let ending = Ending(isJSON: words.prefix { $0 != "--" }.contains("--json"))
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
        guard let error else {
            Output.text(Answer.given?.text ?? "")
            _exit(Answer.given?.code ?? 0)
        }
        let failure = Failure(error)
        if isJSON {
            Output.line(failure.text)
        } else {
            Output.report(TenonError(error.code, message: failure.lines.joined(separator: "\n")), of: .tenon)
        }
        _exit(error.code.category.rawValue)
    }
}
