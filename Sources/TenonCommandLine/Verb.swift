// SPDX-License-Identifier: Apache-2.0

/// One `--name`, or `--name VALUE` where it has a value.
package struct Flag: Hashable, Sendable {
    package let name: String
    /// What stands for its value in the help; nil for a switch.
    package let value: String?
    package let summary: String
    /// The variable of the environment that stands for it.
    package let variable: String?

    package init(name: String, value: String?, summary: String, variable: String? = nil) {
        self.name = name
        self.value = value
        self.summary = summary
        self.variable = variable
    }
}

/// One thing that a program does. Its help, its page of the manual and its completion are made of these.
package struct Verb: Sendable {
    package let words: [String]
    /// What stands for the operands: names, `[NAME]` where one may be left out. As many are taken.
    package let operands: String
    package let summary: String
    /// What the summary does not say, in whole lines.
    package let details: String
    package let flags: [Flag]
    /// Command lines as they are typed.
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
