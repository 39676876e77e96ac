// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// The words of a command line, split into a verb's operands and its flags.
package struct Arguments: Sendable {
    package private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]
    private let program: Program
    private let verb: Verb

    /// - Throws: ``TenonError/Code/options`` for a word that the verb does not know.
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
                "\(parts[0]) is not an option of \(verb.name).", guess: guess.map { "\(verb.name) \($0)" }, of: verb)
        }
        if flag.value == nil {
            guard parts.count == 1 else { throw mistake("\(flag.name) takes no value.") }
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

    /// Whether the flag was given.
    package func has(_ name: String) -> Bool { values[name] != nil }

    /// All values of a flag that may be repeated.
    package func all(_ name: String) -> [String] { values[name] ?? [] }

    /// The value of a flag, or of the environment variable that stands for it.
    ///
    /// - Throws: ``TenonError/Code/options`` when the flag is repeated.
    package func value(_ name: String) throws(TenonError) -> String? {
        guard all(name).count <= 1 else { throw mistake("\(name) is given twice.") }
        if let value = all(name).first { return value }
        return verb.flags.first { $0.name == name }?.variable.flatMap(Environment.variable)
    }

    /// The error for a mistake in the command line.
    package func mistake(_ cause: String) -> TenonError { program.mistake(cause, of: verb) }
}

/// Guesses what a mistyped word was meant to be.
package enum Guess {
    /// The nearest known word, if a typing error explains the difference.
    package static func nearest(to word: String, in words: [String]) -> String? {
        let known = words.map { (word: $0, distance: distance(Array(word.utf8), Array($0.utf8))) }
        guard let best = known.min(by: { $0.distance < $1.distance }) else { return nil }
        if best.distance <= max(1, word.utf8.count / 3) { return best.word }
        let longer = words.filter { word.utf8.count > 1 && $0.hasPrefix(word) }
        return longer.count == 1 ? longer[0] : nil
    }

    /// The number of letters that were inserted, left out, replaced, or swapped with a neighbour.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var rows = [Array(0...right.count)]
        for row in 0..<left.count {
            var next = [row + 1]
            for column in 0..<right.count {
                let isSame = left[row] == right[column]
                var least = min(rows[row][column] + (isSame ? 0 : 1), rows[row][column + 1] + 1, next[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    least = min(least, rows[row - 1][column - 1] + 1)
                }
                next.append(least)
            }
            rows.append(next)
        }
        return rows[left.count][right.count]
    }
}
