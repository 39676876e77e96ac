// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// One thing that the command does. The help is made of these.
struct Verb: Sendable {
    let words: [String]
    /// What stands for the operands in the help.
    let operands: String
    let summary: String
    let flags: [Arguments.Flag]
    let run: @Sendable (Arguments) async throws(TenonError) -> Void

    static let folder = Arguments.Flag(
        name: "--state-dir", value: "DIR",
        summary: "where everything is kept (else $STATE_DIRECTORY, $XDG_STATE_HOME/tenon-authority, ...)")
    static let socket = Arguments.Flag(
        name: "--admin", value: "SOCKET", summary: "the admin socket of the authority (else admin.sock in the folder)")
    static let json = Arguments.Flag(name: "--json", value: nil, summary: "print what the authority says as JSON")
    static let reason = Arguments.Flag(name: "--reason", value: "TEXT", summary: "why; it is in the audit log")

    static let all: [Verb] = [
        Verb(
            words: ["serve"], operands: "[REDIS POSTGRES]", summary: "Serve; what is done without a command",
            flags: [
                folder,
                Arguments.Flag(
                    name: "--config", value: "FILE", summary: "the configuration (else authority.json in the folder)"),
                Arguments.Flag(
                    name: "--port", value: "N", summary: "of the configuration that is written when there is none"),
                Arguments.Flag(
                    name: "--ek-roots", value: "FILE", summary: "in it: certificates of TPM makers, PEM; many times"),
                Arguments.Flag(
                    name: "--shared", value: nil,
                    summary: "several instances: redis://... and postgres://... behind it, or in the configuration"),
            ], run: { arguments throws(TenonError) in try await ServeCommand.run(arguments) }),
        Verb(
            words: ["ca", "init"], operands: "", summary: "Make the CA for attestation keys, once",
            flags: [
                folder,
                Arguments.Flag(name: "--name", value: "TEXT", summary: "what its certificates are named after"),
            ], run: { arguments throws(TenonError) in try CACommand.run(arguments) }),
        Verb(
            words: ["ca", "show"], operands: "", summary: "Print the certificates of the CA, PEM",
            flags: [folder, socket],
            run: { arguments throws(TenonError) in try await CACommand.show(arguments) }),
        Verb(
            words: ["devices"], operands: "", summary: "List devices",
            flags: [
                folder, socket, json, Arguments.Flag(name: "--app", value: "ID", summary: "of this app only"),
            ], run: { arguments throws(TenonError) in try await DevicesCommand.run(arguments) }),
        Verb(
            words: ["revoke"], operands: "[DEVICE]", summary: "Revoke a device, an AK certificate or a TPM",
            flags: [
                folder, socket, json, reason,
                Arguments.Flag(name: "--app", value: "ID", summary: "the device's app"),
                Arguments.Flag(name: "--compromised", value: nil, summary: "its key may be in other hands"),
                Arguments.Flag(name: "--serial", value: "HEX", summary: "an AK certificate, instead of a device"),
                Arguments.Flag(name: "--ek", value: "HEX", summary: "a TPM by its ek_id, instead of a device"),
            ], run: { arguments throws(TenonError) in try await RevokeCommand.run(arguments) }),
        Verb(
            words: ["allow"], operands: "", summary: "Take a TPM again that was revoked",
            flags: [
                folder, socket, json, reason, Arguments.Flag(name: "--ek", value: "HEX", summary: "its ek_id"),
            ], run: { arguments throws(TenonError) in try await RevokeCommand.allow(arguments) }),
        Verb(
            words: ["audit", "verify"], operands: "",
            summary: "Check the audit log of an authority that is stopped, or of a copy", flags: [folder],
            run: { arguments throws(TenonError) in try AuditCommand.run(arguments) }),
        Verb(
            words: ["metrics"], operands: "", summary: "Print the metrics, as Prometheus reads them",
            flags: [folder, socket],
            run: { arguments throws(TenonError) in try await MetricsCommand.run(arguments) }),
    ]

    /// - Throws: ``TenonError/Code/options``.
    static func find(_ words: [String]) throws(TenonError) -> (verb: Verb, rest: ArraySlice<String>) {
        guard let first = words.first, !first.hasPrefix("--") else { return (all[0], words[...]) }
        guard let verb = all.first(where: { words.starts(with: $0.words) }) else {
            throw Arguments.mistake("\(first) is no command; see --help.")
        }
        return (verb, words.dropFirst(verb.words.count))
    }
}
