// SPDX-License-Identifier: Apache-2.0

// The page of the manual, for man(7).
extension Program {
    var manual: String {
        var lines = [
            ".\\\" Made by `\(name) --man`.",
            ".TH \(name.uppercased()) \(section) \"\" \"Tenon \(version)\"", ".SH NAME",
            "\(escaped(name)) \\- \(escaped(summary))",
            ".SH SYNOPSIS", ".B \(escaped(name))", "\\fICOMMAND\\fR [\\fIOPTIONS\\fR]", ".SH DESCRIPTION",
            escaped(about), ".SH COMMANDS",
        ]
        for verb in verbs { lines += page(of: verb) }
        lines += [".SH EXIT STATUS", escaped(Help.exitCodes) + "."]
        let variables = variables
        if !variables.isEmpty { lines.append(".SH ENVIRONMENT") }
        for flag in variables {
            lines += [".TP", ".B \(flag.variable ?? "")", "stands for \(escaped(flag.name))."]
        }
        if !files.isEmpty { lines.append(".SH FILES") }
        for file in files { lines += [".TP", ".B \(escaped(file.name))", escaped(file.text)] }
        if !related.isEmpty { lines += [".SH SEE ALSO", escaped(related)] }
        return lines.joined(separator: "\n") + "\n"
    }

    private func page(of verb: Verb) -> [String] {
        var lines = [".SS \(escaped(verb.usage))", escaped(verb.summary) + "."]
        if !verb.details.isEmpty { lines.append(escaped(verb.details)) }
        for flag in verb.flags {
            let value = flag.value.map { " \\fI\(escaped($0))\\fR" } ?? ""
            lines += [".TP", "\\fB\(escaped(flag.name))\\fR\(value)", escaped(flag.explanation)]
        }
        if !verb.examples.isEmpty { lines += [".PP", ".nf"] + verb.examples.map { escaped("    " + $0) } + [".fi"] }
        return lines
    }

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
