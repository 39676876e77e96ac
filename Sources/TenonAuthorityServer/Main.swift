// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon

@main struct Main {
    static func main() async {
        // A peer that is gone is an error where it is written to.
        signal(SIGPIPE, SIG_IGN)
        do throws(TenonError) {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            Output.error("tenon-authority: \(error.message)")
            exit(error.code.category.rawValue)
        }
    }

    private static func run(_ words: [String]) async throws(TenonError) {
        if words == ["--version"] { return Output.line("tenon-authority \(tenonVersion)") }
        if words == ["--help"] { return Output.text(Help.text) }
        let (verb, rest) = try Verb.find(words)
        if rest.contains("--help") { return Output.text(Help.text(of: verb)) }
        try await verb.run(try Arguments(rest, flags: verb.flags))
    }
}

/// What people and machines read.
enum Output {
    static func line(_ text: String) { self.text(text + "\n") }

    static func text(_ text: String) { write(text, to: 1) }

    static func error(_ text: String) { write(text + "\n", to: 2) }

    /// What is read at the other end of a pipe is seen at once.
    private static func write(_ text: String, to file: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
