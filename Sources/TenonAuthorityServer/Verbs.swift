// SPDX-License-Identifier: Apache-2.0
internal import Tenon

// The one table of what can be typed (build.md 28).
extension Verb {
    static let serve = Verb(
        words: ["serve"], operands: "[REDIS POSTGRES]", summary: "Serve; what is done without a command",
        example: "tenon-authority serve --ek-roots /etc/tenon/ek-roots",
        flags: [
            .folder, .config,
            Arguments.Flag(
                name: "--port", value: "N", summary: "of the configuration that is written when there is none"),
            Arguments.Flag(
                name: "--ek-roots", value: "FILE", summary: "in it: certificates of TPM makers, PEM; many times"),
            Arguments.Flag(
                name: "--tls-cert", value: "FILE", summary: "of the public listener: its certificate and those above"),
            Arguments.Flag(name: "--tls-key", value: "FILE", summary: "the certificate's key, PEM"),
            Arguments.Flag(
                name: "--shared", value: nil,
                summary: "several instances: redis://... and postgres://... behind it, or in the configuration"),
        ], run: { arguments throws(TenonError) in try await ServeCommand.run(arguments) })

    static let caInit = Verb(
        words: ["ca", "init"], operands: "", summary: "Make the CA for attestation keys, once",
        example: "tenon-authority ca init --name Example", flags: [.folder, .name, .tpm],
        run: { arguments throws(TenonError) in try CACommand.make(arguments) })

    static let caRoll = Verb(
        words: ["ca", "roll"], operands: "", summary: "Issue by another CA; the former one is trusted until the next",
        example: "tenon-authority ca roll --name Example-2", flags: [.folder, .name, .tpm],
        run: { arguments throws(TenonError) in try CACommand.roll(arguments) })

    static let caShow = Verb(
        words: ["ca", "show"], operands: "", summary: "Print the certificates of the CA, PEM",
        example: "tenon-authority ca show > ak-roots.pem", flags: [.folder, .socket],
        run: { arguments throws(TenonError) in try await CACommand.show(arguments) })

    static let devices = Verb(
        words: ["devices"], operands: "", summary: "List devices", example: "tenon-authority devices --app demo",
        flags: [
            .folder, .socket, .json, Arguments.Flag(name: "--app", value: "ID", summary: "of this app only"),
        ], run: { arguments throws(TenonError) in try await DevicesCommand.run(arguments) })

    static let revoke = Verb(
        words: ["revoke"], operands: "[DEVICE]", summary: "Revoke a device, an AK certificate or a TPM",
        example: "tenon-authority revoke --app demo --compromised --reason stolen 6f1c1a52-8a3b-4d0e-9d2f-0c7b5e4a3f21",
        flags: [
            .folder, .socket, .json, .reason,
            Arguments.Flag(name: "--app", value: "ID", summary: "the device's app"),
            Arguments.Flag(name: "--compromised", value: nil, summary: "its key may be in other hands"),
            Arguments.Flag(name: "--serial", value: "HEX", summary: "an AK certificate, instead of a device"),
            Arguments.Flag(name: "--ek", value: "HEX", summary: "a TPM by its ek_id, instead of a device"),
        ], run: { arguments throws(TenonError) in try await RevokeCommand.run(arguments) })

    static let allow = Verb(
        words: ["allow"], operands: "", summary: "Take a TPM again that was revoked",
        example: "tenon-authority allow --ek \(String(repeating: "5e", count: 32)) --reason found",
        flags: [
            .folder, .socket, .json, .reason, Arguments.Flag(name: "--ek", value: "HEX", summary: "its ek_id"),
        ], run: { arguments throws(TenonError) in try await RevokeCommand.allow(arguments) })

    static let auditVerify = Verb(
        words: ["audit", "verify"], operands: "",
        summary: "Check the audit log of an authority that is stopped, or of a copy",
        example: "tenon-authority audit verify --state-dir /srv/copy",
        flags: [
            .folder, .config,
            Arguments.Flag(
                name: "--head", value: "N:MAC",
                summary: "a line that has to be there, as serve told its head; many times"
            ),
        ], run: { arguments throws(TenonError) in try AuditCommand.run(arguments) })

    static let health = Verb(
        words: ["health"], operands: "", summary: "Say how the authority is; the exit code is 5 when it is not well",
        example: "tenon-authority health", flags: [.folder, .socket, .json],
        run: { arguments throws(TenonError) in try await HealthCommand.run(arguments) })

    static let metrics = Verb(
        words: ["metrics"], operands: "", summary: "Print the metrics, as Prometheus reads them",
        example: "tenon-authority metrics", flags: [.folder, .socket],
        run: { arguments throws(TenonError) in try await MetricsCommand.run(arguments) })

    static let help = Verb(
        words: ["help"], operands: "[COMMAND]", summary: "Explain a command", example: "tenon-authority help revoke",
        flags: [Arguments.Flag(name: "--man", value: nil, summary: "print the whole as a man page")],
        run: { arguments throws(TenonError) in try HelpCommand.run(arguments) })
}
