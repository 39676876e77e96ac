// SPDX-License-Identifier: Apache-2.0

extension Program {
    /// The output of `--help`.
    var help: String {
        var text = "usage: \(name) \(hasDefault ? "[COMMAND]" : "COMMAND") [OPTIONS]\n\n\(about)\n\n"
        text += verbs.map { Help.row($0.usage, $0.summary) }.joined()
        text += "\n"
        text += Help.row("help COMMAND", "what a command does, with its options and examples")
        text += Help.row("--version", "the version, and the library that it computes with")
        text += Help.row("--man", "the manual page: \(name) --man | man -l -")
        text += Help.row("--completion", "for bash: source <(\(name) --completion)")
        if !firstTry.isEmpty { text += "\n" + firstTry.joined(separator: "\n") + "\n" }
        let codes = Help.exitCodes.map { "\($0.code) \($0.text)" }.joined(separator: ", ")
        return text + "\n" + Help.lines("Exit codes: \(codes).".split(separator: " ").map(String.init)) + "\n"
    }

    /// The output of `help COMMAND` and `COMMAND --help`.
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
    /// The exit codes: 0, and the categories of errors.
    static let exitCodes: [(code: Int, text: String)] = [
        (0, "done"), (1, "a mistake in the command line or configuration"), (2, "bytes that are not what they claim"),
        (3, "refused"), (4, "busy: try again"), (5, "not available"), (6, "not permitted"),
        (7, "an auth value, or lockout"), (8, "the key is gone: register again"), (9, "a bug, or no memory"),
        (10, "not allowed in this state"), (11, "sent and not answered: ask again"),
    ]

    /// Breaks words into lines of at most 108 columns.
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

extension Program {
    /// The page of the manual, in the form of man(7).
    package var manual: String {
        var lines = [
            ".\\\" SPDX-License-Identifier: Apache-2.0", ".\\\" Made by `\(name) --man`.",
            ".TH \(name.uppercased()) \(section) \"\" \"\(name) \(version)\" \"Tenon\"", ".SH NAME",
            "\(escaped(name)) \\- \(escaped(summary))", ".SH SYNOPSIS", ".B \(escaped(name))",
            "[\\fICOMMAND\\fR] [\\fIOPTIONS\\fR]", ".SH DESCRIPTION", escaped(about), ".SH COMMANDS",
        ]
        for verb in verbs { lines += page(of: verb) }
        if !firstTry.isEmpty { lines += [".SH EXAMPLES", ".EX"] + firstTry.map(escaped) + [".EE"] }
        lines += part("EXIT STATUS", Help.exitCodes.map { (String($0.code), $0.text) })
        lines += part("ENVIRONMENT", variables.map { ($0.variable ?? "", "Stands for \($0.name).") })
        lines += part("FILES", files.map { ($0.name, $0.text) })
        return lines.joined(separator: "\n") + "\n"
    }

    private func page(of verb: Verb) -> [String] {
        var lines = [".SS \(escaped(verb.usage))", escaped(verb.summary) + "."]
        if !verb.details.isEmpty { lines.append(escaped(verb.details)) }
        for flag in verb.flags { lines += item(flag.usage, flag.explanation) }
        if !verb.examples.isEmpty { lines += [".PP", ".EX"] + verb.examples.map(escaped) + [".EE"] }
        return lines
    }

    private func part(_ name: String, _ items: [(term: String, text: String)]) -> [String] {
        items.isEmpty ? [] : [".SH \(name)"] + items.flatMap { item($0.term, $0.text) }
    }

    private func item(_ term: String, _ text: String) -> [String] { [".TP", ".B \(escaped(term))", escaped(text)] }

    private var variables: [Flag] {
        var seen: Set<String> = []
        return verbs.flatMap(\.flags).filter { flag in flag.variable.map { seen.insert($0).inserted } ?? false }
    }

    /// Escapes a line that begins with a dot or a quote, which man takes for a request, and backslashes.
    private func escaped(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let line = line.map { $0 == "\\" ? "\\e" : $0 == "-" ? "\\-" : String($0) }.joined()
            return line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
        }.joined(separator: "\n")
    }
}

extension Program {
    /// The completion for bash.
    var completion: String {
        let function = "_" + name.split(separator: "-").joined(separator: "_")
        var cases = ""
        for first in firstWords {
            let group = verbs.filter { $0.words[0] == first }
            let words =
                group.filter { $0.words.count > 1 }.map { $0.words[1] }
                + Set(group.flatMap(\.flags).map(\.name)).sorted()
            cases += "        \(first)) words='\(words.joined(separator: " ")) --help' ;;\n"
        }
        return """
            \(function)() {
                local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words
                case $before in
                    \(flags { $0.hasSuffix("FILE") })) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word")); return ;;
                    \(flags { $0 == "DIR" })) compopt -o filenames; COMPREPLY=($(compgen -d -- "$word")); return ;;
                    \(flags { !$0.hasSuffix("FILE") && $0 != "DIR" })) return ;;
                esac
                case ${COMP_WORDS[1]} in
            \(cases)        *) words='\(firstWords.joined(separator: " ")) --help --version --man --completion' ;;
                esac
                COMPREPLY=($(compgen -W "$words" -- "$word"))
            }
            complete -F \(function) \(name)

            """
    }

    private var firstWords: [String] {
        var seen: Set<String> = []
        return verbs.map { $0.words[0] }.filter { seen.insert($0).inserted }
    }

    /// The flags whose value is of the wanted kind, as a pattern of the shell.
    private func flags(_ isWanted: (String) -> Bool) -> String {
        let names = Set(verbs.flatMap(\.flags).filter { $0.value.map(isWanted) ?? false }.map(\.name))
        return names.isEmpty ? "-" : names.sorted().joined(separator: "|")
    }
}
