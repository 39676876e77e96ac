// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonCommandLine

// The single table of everything that can be typed (decision: one-table).
extension Verb {
    static let authority: [Verb] = [
        serve, caInit, caRoll, caShow, devicesApprove, devicesReject, devices, revoke, allow, auditVerify, clockReset,
        health, metrics,
    ]

    static let serve = Verb(
        words: ["serve"], operands: "[REDIS] [POSTGRES]", summary: "Serve (the default command)",
        flags: [
            .folder, .config,
            Flag(
                name: "--port", value: "N", summary: "the port in a new configuration"),
            Flag(
                name: "--ek-roots", value: "FILE",
                summary: "TPM makers' root certificates for that configuration, PEM; repeatable"),
            Flag(
                name: "--tls-cert", value: "FILE", summary: "the public listener's certificate, and those above"),
            Flag(name: "--tls-key", value: "FILE", summary: "the certificate's key, PEM"),
            Flag(
                name: "--shared", value: nil,
                summary: "several instances: redis://... and postgres://... follow, or are in the configuration"),
            Flag(
                name: "--rolling", value: nil,
                summary: "with --shared: start even if other instances have another policy"),
            Flag(
                name: "--accept-audit-log", value: nil,
                summary: "continue with an audit log that differs from what was written, and record that in it"),
        ], examples: ["tenon-authority serve --ek-roots /etc/tenon/ek-roots"],
        run: { arguments throws(TenonError) in try await ServeCommand.run(arguments) })

    static let caInit = Verb(
        words: ["ca", "init"], operands: "", summary: "Make the CA for attestation keys, once",
        flags: [.folder, .name, .tpm],
        examples: ["tenon-authority ca init --name Example"],
        run: { arguments throws(TenonError) in try CACommand.make(arguments) })

    static let caRoll = Verb(
        words: ["ca", "roll"], operands: "", summary: "Change to a new CA; the old one is trusted until the next roll",
        flags: [
            .folder,
            Flag(name: "--name", value: "TEXT", summary: "the name in its certificates (default: as before)"),
            .tpm,
        ],
        examples: ["tenon-authority ca roll"],
        run: { arguments throws(TenonError) in try CACommand.roll(arguments) })

    static let caShow = Verb(
        words: ["ca", "show"], operands: "", summary: "Print the certificates of the CA, PEM",
        flags: [.folder, .socket, .timeout],
        examples: ["tenon-authority ca show > ak-roots.pem"],
        run: { arguments throws(TenonError) in try await CACommand.show(arguments) })

    static let devices = Verb(
        words: ["devices"], operands: "", summary: "List devices",
        flags: [
            .folder, .socket, .timeout, .json, Flag(name: "--app", value: "ID", summary: "only devices of this app"),
            Flag(name: "--pending", value: nil, summary: "only devices that are waiting for approval"),
            Flag(name: "--limit", value: "N", summary: "at most N devices (default: all)"),
            Flag(name: "--after", value: "DEVICE", summary: "only devices that registered after this one"),
        ],
        examples: [
            "tenon-authority devices --app demo",
            "tenon-authority devices --limit 1000 --after 6f1c1a52-8a3b-4d0e-9d2f-0c7b5e4a3f21",
        ],
        run: { arguments throws(TenonError) in try await DevicesCommand.run(arguments) })

    static let devicesApprove = Verb(
        words: ["devices", "approve"], operands: "DEVICE", summary: "Approve a device that is waiting",
        flags: [.folder, .socket, .timeout, .json, .reason],
        examples: ["tenon-authority devices approve 6f1c1a52-8a3b-4d0e-9d2f-0c7b5e4a3f21"],
        run: { arguments throws(TenonError) in try await DevicesCommand.decide("approve", arguments) })

    static let devicesReject = Verb(
        words: ["devices", "reject"], operands: "DEVICE", summary: "Reject a device that is waiting for approval",
        details: "Its key is refused for good. Its machine may register another key, which waits again.",
        flags: [.folder, .socket, .timeout, .json, .reason],
        examples: ["tenon-authority devices reject 6f1c1a52-8a3b-4d0e-9d2f-0c7b5e4a3f21 --reason unknown"],
        run: { arguments throws(TenonError) in try await DevicesCommand.decide("reject", arguments) })

    static let revoke = Verb(
        words: ["revoke"], operands: "[DEVICE]", summary: "Revoke a device, an AK certificate or a TPM",
        flags: [
            .folder, .socket, .timeout, .json, .reason,
            Flag(name: "--app", value: "ID", summary: "the device's app"),
            Flag(
                name: "--compromised", value: nil,
                summary: "revoke all devices of its TPM, in every app, and refuse new ones"),
            Flag(name: "--dry-run", value: nil, summary: "only list what would be revoked"),
            Flag(name: "--serial", value: "HEX", summary: "an AK certificate, instead of a device"),
            Flag(name: "--ek", value: "HEX", summary: "a TPM by its ek_id, instead of a device"),
        ],
        examples: [
            "tenon-authority revoke --app demo --compromised --reason stolen 6f1c1a52-8a3b-4d0e-9d2f-0c7b5e4a3f21"
        ],
        run: { arguments throws(TenonError) in try await RevokeCommand.run(arguments) })

    static let allow = Verb(
        words: ["allow"], operands: "", summary: "Accept a revoked TPM again",
        flags: [
            .folder, .socket, .timeout, .json, .reason, Flag(name: "--ek", value: "HEX", summary: "its ek_id"),
        ], examples: ["tenon-authority allow --ek \(String(repeating: "5e", count: 32)) --reason found"],
        run: { arguments throws(TenonError) in try await RevokeCommand.allow(arguments) })

    static let auditVerify = Verb(
        words: ["audit", "verify"], operands: "",
        summary: "Check the audit log of a stopped authority, or of a copy",
        flags: [
            .folder, .config,
            Flag(
                name: "--head", value: "N:MAC",
                summary: "a head that serve printed, which the log must contain; repeatable"
            ),
            Flag(name: "--shared", value: nil, summary: "compare with the PostgreSQL in the configuration"),
        ], examples: ["tenon-authority audit verify --state-dir /srv/copy"],
        run: { arguments throws(TenonError) in try await AuditCommand.run(arguments) })

    static let clockReset = Verb(
        words: ["clock", "reset"], operands: "",
        summary: "Forget the kept time after this machine's clock was wrong and is right now",
        flags: [.folder], examples: ["tenon-authority clock reset"],
        run: { arguments throws(TenonError) in try ClockCommand.reset(arguments) })

    static let health = Verb(
        words: ["health"], operands: "", summary: "Print the authority's health; the exit code is 5 if it has a fault",
        flags: [.folder, .socket, .timeout, .json],
        examples: ["tenon-authority health"],
        run: { arguments throws(TenonError) in try await HealthCommand.run(arguments) })

    static let metrics = Verb(
        words: ["metrics"], operands: "", summary: "Print the metrics in Prometheus format",
        flags: [.folder, .socket, .timeout],
        examples: ["tenon-authority metrics"],
        run: { arguments throws(TenonError) in try await MetricsCommand.run(arguments) })
}

extension Flag {
    static let folder = Flag(
        name: "--state-dir", value: "DIR",
        summary: "the state folder (default: $STATE_DIRECTORY, $XDG_STATE_HOME/tenon-authority, ...)")
    static let socket = Flag(
        name: "--admin", value: "SOCKET", summary: "the authority's admin socket (default: admin.sock in the folder)")
    static let timeout = Flag(
        name: "--timeout", value: "SECONDS", summary: "how long to wait for the authority's answer (default: 30)")
    static let json = Flag(name: "--json", value: nil, summary: "print the authority's answer as JSON")
    static let reason = Flag(name: "--reason", value: "TEXT", summary: "the reason, for the audit log")
    static let config = Flag(
        name: "--config", value: "FILE", summary: "the configuration (default: authority.json in the folder)")
    static let tpm = Flag(
        name: "--tpm", value: "TCTI", summary: "make its key in this TPM, as device:/dev/tpmrm0; it stays there")
    static let name = Flag(
        name: "--name", value: "TEXT", summary: "the name in the certificates (default: Tenon)")
}

extension Program {
    /// The summary of the command.
    static let authority = Program(
        name: "tenon-authority", version: tenonVersion, backend: tenonBackend,
        summary: "the auth service of Tenon",
        about: """
            Devices register keys that stay in their TPMs. Backends ask whether a request comes from a device.
            Without a configuration, the authority writes one and serves on loopback.
            """, verbs: Verb.authority, hasDefault: true, section: 8,
        files: [
            ("authority.json", "The configuration; docs/authority.md has its members."),
            ("authority.db", "Challenges, devices and certificates, where Redis and PostgreSQL do not have them."),
            ("ca.json", "The CA and the keys that instances share: keep a backup where nobody else can read it."),
            ("audit.log", "What was decided and issued, chained; its signed heads are on standard error."),
            ("admin.sock", "The socket for operators."),
        ])
}
