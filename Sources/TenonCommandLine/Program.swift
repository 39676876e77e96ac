// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A program that is told what to do by a verb: the table of these, and what is said of all of them.
package struct Program: Sendable {
    package let name: String
    package let version: String
    /// One line.
    package let summary: String
    /// A paragraph, in whole lines.
    package let about: String
    package let verbs: [Verb]
    /// Whether the first verb is meant where none is said.
    package let hasDefault: Bool
    /// Of the manual: 1 is for everybody, 8 for operators.
    package let section: Int
    /// What to type for a first try; nothing where the examples are enough.
    package let firstTry: [String]
    /// Its files, for the manual.
    package let files: [(name: String, text: String)]

    package init(
        name: String, version: String, summary: String, about: String, verbs: [Verb], hasDefault: Bool = false,
        section: Int = 1, firstTry: [String] = [], files: [(name: String, text: String)] = []
    ) {
        self.name = name
        self.version = version
        self.summary = summary
        self.about = about
        self.verbs = verbs
        self.hasDefault = hasDefault
        self.section = section
        self.firstTry = firstTry
        self.files = files
    }

    /// Does what the words say.
    package func run(_ words: [String]) async throws(TenonError) {
        if let text = answer(to: words) { return Output.text(text) }
        if words.first == "help" { return Output.text(try explanation(of: words.dropFirst())) }
        let (verb, rest) = try find(words)
        if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
            return Output.text(help(of: verb))
        }
        try await verb.run(try Arguments(rest, of: verb, in: self))
    }

    /// What `help COMMAND` prints.
    private func explanation(of words: ArraySlice<String>) throws(TenonError) -> String {
        let (verb, rest) = try find(Array(words))
        guard rest.isEmpty else { throw mistake("\(words.joined(separator: " ")) is no command.") }
        return help(of: verb)
    }

    /// What is said of the program itself.
    private func answer(to words: [String]) -> String? {
        switch words {
        case ["--version"]: "\(name) \(version)\n"
        case ["--help"], ["-h"], ["help"]: help
        case ["--man"]: manual
        case ["--completion"]: completion
        case [] where !hasDefault: help
        default: nil
        }
    }

    /// - Throws: ``TenonError/Code/options``, with the nearest verb that there is.
    func find(_ words: [String]) throws(TenonError) -> (verb: Verb, rest: ArraySlice<String>) {
        guard let first = words.first, !(hasDefault && first.hasPrefix("-")) else { return (verbs[0], words[...]) }
        if let verb = verbs.first(where: { words.starts(with: $0.words) }) {
            return (verb, words.dropFirst(verb.words.count))
        }
        guard !first.hasPrefix("-") else { throw mistake("\(first) comes after a command.") }
        let typed = words.prefix { !$0.hasPrefix("-") }
        let group = verbs.filter { $0.words.first == first }
        if !group.isEmpty {
            let second = group.map { $0.words[1] }
            let guess = typed.count > 1 ? Guess.nearest(to: typed[1], in: second) : nil
            throw mistake(
                "\(first) is not all of a command: it goes on with one of \(second.joined(separator: ", ")).",
                guess: guess.map { "\(first) \($0)" })
        }
        let guess =
            Guess.nearest(to: first, in: verbs.map { $0.words[0] })
            ?? Guess.nearest(to: typed.prefix(2).joined(separator: " "), in: verbs.map(\.name))
        throw mistake("\(first) is no command.", guess: guess)
    }

    /// A mistake in what was typed: the cause, and what to type.
    ///
    /// - Parameter guess: what was meant, probably: it stands behind the program's name.
    package func mistake(_ cause: String, guess: String? = nil, of verb: Verb? = nil) -> TenonError {
        let mend =
            guess.map { "Did you mean: \(name) \($0)" }
            ?? "Look at: \([name, verb?.name, "--help"].compactMap { $0 }.joined(separator: " "))"
        return TenonError(.options, message: "\(cause)\n\(mend)")
    }
}
