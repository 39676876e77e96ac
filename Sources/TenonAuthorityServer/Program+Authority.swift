// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonCommandLine

extension Program {
    /// What the command does.
    static let authority = Program(
        name: "tenon-authority", version: tenonVersion, summary: "the auth service of Tenon",
        about: """
            Devices register with keys that stay in their TPMs, and backends ask whether a request is a device's.
            Without a configuration it serves on loopback and writes one.
            """, verbs: Verb.authority, hasDefault: true, section: 8,
        files: [
            ("authority.json", "The configuration; docs/authority.md has its members."),
            ("authority.db", "Challenges, devices and certificates, where Redis and PostgreSQL do not have them."),
            ("ca.json", "The CA and the keys that instances share: keep a backup where nobody else reads it."),
            ("audit.log", "Registrations, rotations and revocations, chained; its signed heads are on standard error."),
            ("admin.sock", "Where operators ask."),
        ])
}
