// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// The words of a command line: a verb's operands and its flags, as the verb declares them.
package struct Arguments: Sendable {
    package private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]
    private let program: Program
    private let verb: Verb

    /// - Throws: ``TenonError/Code/options`` for what the verb does not know.
    init(_ words: some Sequence<String>, of verb: Verb, in program: Program) throws(TenonError) {
        self.program = program
        self.verb = verb
        var words = Array(words)[...]
        while let word = words.popFirst() {
            if word == "--" {
                operands += words
                words = []
            } else if word.hasPrefix("-"), word != "-" {
                try take(word, &words)
            } else {
                operands.append(word)
            }
        }
        try checkOperands()
    }

    private mutating func take(_ word: String, _ words: inout ArraySlice<String>) throws(TenonError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let flag = verb.flags.first(where: { $0.name == parts[0] }) else {
            let guess = Guess.nearest(to: parts[0], in: verb.flags.map(\.name))
            throw program.mistake(
                "\(parts[0]) is no option of \(verb.name).", guess: guess.map { "\(verb.name) \($0)" }, of: verb)
        }
        if flag.value == nil {
            guard parts.count == 1 else { throw mistake("\(flag.name) has no value.") }
            values[flag.name, default: []].append("")
        } else {
            guard let value = parts.count == 2 ? parts[1] : words.popFirst() else {
                throw mistake("\(flag.name) needs a value.")
            }
            values[flag.name, default: []].append(value)
        }
    }

    private func checkOperands() throws(TenonError) {
        if operands.count > verb.operandCounts.upperBound {
            throw mistake("\(operands[verb.operandCounts.upperBound]) is one word too many for \(verb.name).")
        }
        if operands.count < verb.operandCounts.lowerBound {
            throw mistake("\(verb.name) needs \(verb.operands.split(separator: " ")[operands.count]).")
        }
    }

    package func has(_ name: String) -> Bool { values[name] != nil }

    /// What was said of a flag that may be there many times.
    package func all(_ name: String) -> [String] { values[name] ?? [] }

    /// What was said, or what the variable says that stands for the flag.
    ///
    /// - Throws: ``TenonError/Code/options`` when it is there twice.
    package func value(_ name: String) throws(TenonError) -> String? {
        guard all(name).count <= 1 else { throw mistake("\(name) is there twice.") }
        if let value = all(name).first { return value }
        return verb.flags.first { $0.name == name }?.variable.flatMap(Environment.variable)
    }

    /// A mistake in what was typed.
    package func mistake(_ cause: String) -> TenonError { program.mistake(cause, of: verb) }
}

extension Verb {
    /// Does what the verb says, with what was typed behind it.
    package typealias Run = @Sendable (Arguments) async throws(TenonError) -> Void
}
