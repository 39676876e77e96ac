// SPDX-License-Identifier: Apache-2.0

// What `--help` prints.
extension Program {
    var help: String {
        var text = "usage: \(name) \(hasDefault ? "[COMMAND]" : "COMMAND") [OPTIONS]\n\n\(about)\n\n"
        text += verbs.map { Help.row($0.usage, $0.summary) }.joined()
        text += "\n"
        text += Help.row("help COMMAND", "what a command does, its options and examples")
        text += Help.row("--version", "the version")
        text += Help.row("--man", "the page of the manual: \(name) --man | man -l -")
        text += Help.row("--completion", "for bash: source <(\(name) --completion)")
        if !firstTry.isEmpty { text += "\n" + firstTry.joined(separator: "\n") + "\n" }
        let codes = Help.exitCodes.map { "\($0.code) \($0.text)" }.joined(separator: ", ")
        return text + "\n" + Help.lines("Exit codes: \(codes).".split(separator: " ").map(String.init)) + "\n"
    }

    func help(of verb: Verb) -> String {
        var text = "usage: \(name) \(verb.usage)\(verb.flags.isEmpty ? "" : " [OPTIONS]")\n\n\(verb.summary).\n"
        if !verb.details.isEmpty { text += "\(verb.details)\n" }
        if !verb.flags.isEmpty { text += "\n" }
        for flag in verb.flags { text += Help.row(flag.usage, flag.explanation) }
        if !verb.examples.isEmpty { text += "\nexamples:\n" }
        for example in verb.examples { text += "  \(example)\n" }
        return text
    }
}

enum Help {
    /// The categories of errors.
    static let exitCodes: [(code: Int, text: String)] = [
        (0, "done"), (1, "a mistake in what was typed or configured"), (2, "bytes that are not what they claim"),
        (3, "refused"), (4, "busy: try again"), (5, "not available"), (6, "not permitted"),
        (7, "an auth value, or lockout"), (8, "the key is gone: register again"), (9, "a bug, or no memory"),
        (10, "not allowed in this state"), (11, "sent and not answered: ask again"),
    ]

    /// Words in lines that a terminal has room for.
    static func lines(_ words: [String]) -> String {
        var lines = [""]
        for word in words {
            if lines[lines.count - 1].count + word.count > 108 { lines.append("") }
            lines[lines.count - 1] += lines[lines.count - 1].isEmpty ? word : " " + word
        }
        return lines.joined(separator: "\n")
    }

    private static let column = 26

    static func row(_ left: String, _ right: String) -> String {
        let gap = left.count < column ? String(repeating: " ", count: column - left.count) : "\n" + indent
        return "  \(left)\(gap)\(right)\n"
    }

    private static let indent = String(repeating: " ", count: column + 2)
}

extension Flag {
    var usage: String { value.map { "\(name) \($0)" } ?? name }

    var explanation: String { variable.map { "\(summary) [\($0)]" } ?? summary }
}
