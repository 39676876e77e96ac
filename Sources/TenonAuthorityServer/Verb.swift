// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// One thing that the command does. Help and the man page are made of these.
struct Verb: Sendable {
    let words: [String]
    /// What stands for the operands in the help.
    let operands: String
    let summary: String
    /// What somebody would type.
    let example: String
    let flags: [Arguments.Flag]
    let run: @Sendable (Arguments) async throws(TenonError) -> Void

    var name: String { words.joined(separator: " ") }

    static let all: [Verb] = [
        serve, caInit, caRoll, caShow, devices, revoke, allow, auditVerify, health, metrics, help,
    ]

    /// - Throws: ``TenonError/Code/options``, with the nearest name for one that is none.
    static func find(_ words: [String]) throws(TenonError) -> (verb: Verb, rest: ArraySlice<String>) {
        guard let first = words.first, !first.hasPrefix("--") else { return (serve, words[...]) }
        guard let verb = all.first(where: { words.starts(with: $0.words) }) else {
            let typed = words.prefix { !$0.hasPrefix("--") }
            let guess = all.map { verb in (verb.name, typed.prefix(verb.words.count).joined(separator: " ")) }
            throw Arguments.mistake("\(first) is no command\(Guess.hint(guess)); see --help.")
        }
        return (verb, words.dropFirst(verb.words.count))
    }
}

extension Arguments.Flag {
    static let folder = Arguments.Flag(
        name: "--state-dir", value: "DIR",
        summary: "where everything is kept (else $STATE_DIRECTORY, $XDG_STATE_HOME/tenon-authority, ...)")
    static let socket = Arguments.Flag(
        name: "--admin", value: "SOCKET", summary: "the admin socket of the authority (else admin.sock in the folder)")
    static let json = Arguments.Flag(name: "--json", value: nil, summary: "print what the authority says as JSON")
    static let reason = Arguments.Flag(name: "--reason", value: "TEXT", summary: "why; it is in the audit log")
    static let config = Arguments.Flag(
        name: "--config", value: "FILE", summary: "the configuration (else authority.json in the folder)")
    static let tpm = Arguments.Flag(
        name: "--tpm", value: "TCTI", summary: "make its key in this TPM, like device:/dev/tpmrm0; it never leaves it")
    static let name = Arguments.Flag(
        name: "--name", value: "TEXT", summary: "what the certificates are named after (else Tenon)")
}
