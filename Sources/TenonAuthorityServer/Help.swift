// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// What `--help` prints, out of the table of verbs.
enum Help {
    static let summary = "the auth service of Tenon"
    static let description = """
        Devices register with keys that stay in their TPMs, and backends ask whether a request is a device's. Without a
        configuration it serves on loopback and writes one.
        """

    static var text: String {
        var text = "usage: tenon-authority [COMMAND] [OPTIONS]\n\nThis is \(summary). \(description)\n\n"
        for verb in Verb.all {
            text += "  \(padded(verb.usage, 24))\(verb.summary)\n"
        }
        text += "\nOptions and an example: tenon-authority help COMMAND. Exit codes are the categories of errors.\n"
        return text
    }

    static func text(of verb: Verb) -> String {
        var text =
            "usage: tenon-authority \(verb.usage)\(verb.flags.isEmpty ? "" : " [OPTIONS]")\n\n\(verb.summary).\n\n"
        for flag in verb.flags { text += "  \(padded(flag.usage, 24))\(flag.summary)\n" }
        return text + "\nexample: \(verb.example)\n"
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}

/// `tenon-authority help`.
enum HelpCommand {
    static func run(_ arguments: Arguments) throws(TenonError) {
        if arguments.has("--man") { return Output.text(ManPage.text) }
        guard !arguments.operands.isEmpty else { return Output.text(Help.text) }
        let (verb, rest) = try Verb.find(arguments.operands)
        guard rest.isEmpty else {
            throw Arguments.mistake("\(arguments.operands.joined(separator: " ")) is no command.")
        }
        Output.text(Help.text(of: verb))
    }
}

extension Verb {
    var usage: String { (words + [operands].filter { !$0.isEmpty }).joined(separator: " ") }
}

extension Arguments.Flag {
    var usage: String { [name, value].compactMap { $0 }.joined(separator: " ") }
}
