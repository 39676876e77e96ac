// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A program with verbs. Its help, its manual and its completion are made from this table.
package struct Program: Sendable {
    package let name: String
    package let version: String
    /// The library whose P-256 and SHA-256 it was built with: `--version` names it; the manual is the same for all
    /// builds.
    package let backend: String
    /// One line, for the manual.
    package let summary: String
    /// A paragraph, in whole lines.
    package let about: String
    package let verbs: [Verb]
    /// Whether the first verb is the default.
    package let hasDefault: Bool
    /// The section of the manual: 1 is for users, 8 for operators.
    package let section: Int
    /// Lines that show a first try; empty when the examples are enough.
    package let firstTry: [String]
    /// The program's files, for the manual.
    package let files: [(name: String, text: String)]

    package init(
        name: String, version: String, backend: String, summary: String, about: String, verbs: [Verb],
        hasDefault: Bool = false, section: Int = 1, firstTry: [String] = [], files: [(name: String, text: String)] = []
    ) {
        self.name = name
        self.version = version
        self.backend = backend
        self.summary = summary
        self.about = about
        self.verbs = verbs
        self.hasDefault = hasDefault
        self.section = section
        self.firstTry = firstTry
        self.files = files
    }

    /// Runs the verb that the words name.
    package func run(_ words: [String]) async throws(TenonError) {
        if let text = answer(to: words) { return Output.text(text) }
        if words.first == "help" { return Output.text(try explanation(of: words.dropFirst())) }
        let (verb, rest) = try find(words)
        if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
            return Output.text(help(of: verb))
        }
        try await verb.run(try Arguments(rest, of: verb, in: self))
    }

    /// The help of the verb that the words name.
    private func explanation(of words: ArraySlice<String>) throws(TenonError) -> String {
        let (verb, rest) = try find(Array(words))
        guard rest.isEmpty else { throw mistake("\(words.joined(separator: " ")) is not a command.") }
        return help(of: verb)
    }

    /// The text that the program prints about itself; nil when the words name a verb.
    private func answer(to words: [String]) -> String? {
        switch words {
        case ["--version"]: "\(name) \(version) with \(backend)\n"
        case ["--help"], ["-h"], ["help"]: help
        case ["--man"]: manual
        case ["--completion"]: completion
        case [] where !hasDefault: help
        default: nil
        }
    }

    /// The verb that the words begin with, and the words after it.
    ///
    /// - Throws: ``TenonError/Code/options``, with the nearest verb.
    func find(_ words: [String]) throws(TenonError) -> (verb: Verb, rest: ArraySlice<String>) {
        guard let first = words.first, !(hasDefault && first.hasPrefix("-")) else { return (verbs[0], words[...]) }
        if let verb = verbs.first(where: { words.starts(with: $0.words) }) {
            return (verb, words.dropFirst(verb.words.count))
        }
        guard !first.hasPrefix("-") else { throw mistake("\(first) must follow a command.") }
        let typed = words.prefix { !$0.hasPrefix("-") }
        let group = verbs.filter { $0.words.first == first }
        if !group.isEmpty {
            let second = group.map { $0.words[1] }
            let guess = typed.count > 1 ? Guess.nearest(to: typed[1], in: second) : nil
            throw mistake(
                "\(first) is not a whole command; it needs one of \(second.joined(separator: ", ")).",
                guess: guess.map { "\(first) \($0)" })
        }
        let guess =
            Guess.nearest(to: first, in: verbs.map { $0.words[0] })
            ?? Guess.nearest(to: typed.prefix(2).joined(separator: " "), in: verbs.map(\.name))
        throw mistake("\(first) is not a command.", guess: guess)
    }

    /// The error for a mistake in the command line, with a command that helps.
    ///
    /// - Parameter guess: the words that were probably meant, without the program's name.
    package func mistake(_ cause: String, guess: String? = nil, of verb: Verb? = nil) -> TenonError {
        let mend =
            guess.map { "Did you mean: \(name) \($0)" }
            ?? "See: \([name, verb?.name, "--help"].compactMap { $0 }.joined(separator: " "))"
        return TenonError(.options, message: cause, mend: mend)
    }
}

/// A flag: `--name`, or `--name VALUE`.
package struct Flag: Hashable, Sendable {
    package let name: String
    /// The name of its value in the help; nil for a switch.
    package let value: String?
    package let summary: String
    /// The environment variable that stands for it.
    package let variable: String?

    package init(name: String, value: String?, summary: String, variable: String? = nil) {
        self.name = name
        self.value = value
        self.summary = summary
        self.variable = variable
    }
}

/// One thing that a program does.
package struct Verb: Sendable {
    /// Runs the verb with its arguments.
    package typealias Run = @Sendable (Arguments) async throws(TenonError) -> Void

    package let words: [String]
    /// The names of the operands, separated by spaces: `[NAME]` for one that may be left out.
    package let operands: String
    package let summary: String
    /// Whole lines that the summary leaves out.
    package let details: String
    package let flags: [Flag]
    /// Complete command lines.
    package let examples: [String]
    package let run: Run

    package init(
        words: [String], operands: String, summary: String, details: String = "", flags: [Flag],
        examples: [String] = [], run: @escaping Run
    ) {
        self.words = words
        self.operands = operands
        self.summary = summary
        self.details = details
        self.flags = flags
        self.examples = examples
        self.run = run
    }

    package var name: String { words.joined(separator: " ") }

    package var usage: String { operands.isEmpty ? name : "\(name) \(operands)" }

    var operandCounts: ClosedRange<Int> {
        let names = operands.split(separator: " ")
        return names.count { !$0.hasPrefix("[") }...names.count
    }
}
