// SPDX-License-Identifier: Apache-2.0

// The page of the manual, for man(7).
extension Program {
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

    /// A line that begins with a dot or a quote is a request of man's, and a backslash begins an escape.
    private func escaped(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let line = line.map { $0 == "\\" ? "\\e" : $0 == "-" ? "\\-" : String($0) }.joined()
            return line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
        }.joined(separator: "\n")
    }
}
