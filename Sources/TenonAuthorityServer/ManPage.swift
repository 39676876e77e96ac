// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// tenon-authority(8), out of the same table as the help. `docs/tenon-authority.8` is what this makes.
enum ManPage {
    static var text: String {
        let parts = [
            head, section("COMMANDS"), Verb.all.map(command).joined(), section("FILES"), files.map(item).joined(),
            section("EXIT STATUS"), exits.map(item).joined(), section("SEE ALSO"),
            "docs/authority.md, docs/openapi.json, docs/threat-model.md\n",
        ]
        return parts.joined()
    }

    private static var head: String {
        """
        .\\" SPDX-License-Identifier: Apache-2.0
        .\\" Made by `tenon-authority help --man`.
        .TH TENON-AUTHORITY 8 "" "tenon-authority \(tenonVersion)" "Tenon"
        .SH NAME
        tenon-authority \\- \(Help.summary)
        .SH SYNOPSIS
        .B tenon-authority
        [\\fICOMMAND\\fR] [\\fIOPTIONS\\fR]
        .SH DESCRIPTION
        \(escaped(Help.description))

        """
    }

    private static func section(_ name: String) -> String { ".SH \(name)\n" }

    private static func command(_ verb: Verb) -> String {
        let flags = verb.flags.map { item(($0.usage, $0.summary)) }.joined()
        return
            ".SS \(escaped(verb.usage))\n\(escaped(verb.summary)).\n\(flags).PP\n.EX\n\(escaped(verb.example))\n.EE\n"
    }

    private static func item(_ item: (term: String, text: String)) -> String {
        ".TP\n.B \(escaped(item.term))\n\(escaped(item.text))\n"
    }

    private static let files: [(term: String, text: String)] = [
        ("authority.json", "The configuration; docs/authority.md has its members."),
        ("authority.db", "Challenges, devices and certificates, where Redis and PostgreSQL do not have them."),
        ("ca.json", "The CA and the keys that instances share: keep a backup where nobody else reads it."),
        ("audit.log", "Registrations, rotations and revocations, chained; its signed heads are on standard error."),
        ("admin.sock", "Where operators ask."),
    ]

    private static let exits: [(term: String, text: String)] = [
        ("0", "It was done."), ("1", "The command line, or what it asks for, is wrong."),
        ("2", "A configuration or a file is not what it claims to be."), ("3", "A check failed."),
        ("4", "Nobody answered, or not now: try again."),
        ("5", "Something is missing or in use; with health: the authority is not well."),
        ("6", "A file or folder may not be opened."), ("9", "A bug, or no memory."),
    ]

    /// A text that says itself: no line begins a request, no hyphen is a dash.
    private static func escaped(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let line = line.replacing("\\", with: "\\e").replacing("-", with: "\\-")
            return line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
        }.joined(separator: "\n")
    }
}
