// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// What `--help` prints, out of the table of verbs.
enum Help {
    static var text: String {
        var text = """
            usage: tenon-authority [COMMAND] [OPTIONS]

            The auth service of Tenon: devices register with keys that stay in their TPMs, and backends ask whether a
            request is a device's. Without a configuration it serves on loopback and writes one.


            """
        for verb in Verb.all {
            text += "  \(padded(verb.usage, 24))\(verb.summary)\n"
        }
        text += "\nOptions of a command: tenon-authority COMMAND --help. Exit codes are the categories of errors.\n"
        return text
    }

    static func text(of verb: Verb) -> String {
        var text =
            "usage: tenon-authority \(verb.usage)\(verb.flags.isEmpty ? "" : " [OPTIONS]")\n\n\(verb.summary).\n\n"
        for flag in verb.flags {
            text += "  \(padded([flag.name, flag.value].compactMap { $0 }.joined(separator: " "), 24))\(flag.summary)\n"
        }
        return text
    }

    static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}

extension Verb {
    fileprivate var usage: String { (words + [operands].filter { !$0.isEmpty }).joined(separator: " ") }
}
