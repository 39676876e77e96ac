// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonCommandLine

extension Program {
    /// The command, with all its verbs.
    static let tenon = Program(
        name: "tenon", version: Build.isDev ? tenonVersion + " dev" : tenonVersion,
        summary: "an identity of this device that cannot be copied off it",
        about: """
            Gives this device an identity whose key is born in the TPM and stays there: proves that to a service,
            registers the key, signs requests with it, changes it, and says what is wrong and what mends it.
            """, verbs: Verb.registering + Verb.using + Verb.proving + Verb.measuring,
        firstTry: [
            "A first try without a TPM (sudo apt install swtpm): a software TPM, and its control socket beside it:",
            "    mkdir tpm",
            "    swtpm socket --tpm2 --tpmstate dir=$PWD/tpm --flags not-need-init,startup-clear --daemon \\",
            "        --server type=unixio,path=$PWD/tpm/socket --ctrl type=unixio,path=$PWD/tpm/socket.ctrl",
            "    tenon doctor --tpm swtpm:path=$PWD/tpm/socket",
        ])
}

extension Verb {
    fileprivate static let registering = [
        Verb(
            words: ["doctor"], operands: "", summary: "Say what is wrong with the TPM, the clock and the identities",
            details: """
                Changes nothing. Ends with the category of the first thing that is wrong; what is only worth knowing
                does not count. With --disclose-ek it also prints the certificate by which services know the TPM.
                """,
            flags: [.json, .tpm, .stateDirectory, .ownerAuth, .endorsementAuth, .disclosed],
            examples: ["tenon doctor", "tenon doctor --tpm device:/dev/tpm0 --json"],
            run: { arguments throws(TenonError) in try Doctor.answer(Setting(arguments: arguments)).give(arguments) }),
        Verb(
            words: ["register"], operands: "", summary: "Register this device, or find that it is registered",
            details: """
                After any failure, run it again: it continues with the same key. The identity keeps the contents of
                --ek-chain, --attestation-ca and --attestation-roots once the service has accepted them, so you need to
                give them only once. Give --disclose-ek each time.

                """ + Services.all.map(\.registerDetails).joined(separator: "\n"),
            flags: Flag.network + [.dialect],
            examples: [
                "tenon register --service https://api.example.org/auth --app app_1 --dialect tenon --disclose-ek"
            ],
            run: { arguments throws(TenonError) in
                try await RegisterCommand.answer(Setting(arguments: arguments)).give(arguments)
            }),
        Verb(
            words: ["status"], operands: "", summary: "Say where the identities stand",
            details: """
                Reads what is on disk and asks nobody. Where there is one identity it ends with 0 if the device may
                sign, 8 if its key is gone, 10 otherwise. With --check it ends, for all of them, with 10 where a person is
                needed, 11 where something is open, and 0 else, and says what to do.
                """,
            flags: Flag.identity + [
                Flag(name: "--check", value: nil, summary: "say what each identity needs, for a monitor")
            ], examples: ["tenon status", "tenon status --json", "tenon status --check"],
            run: { arguments throws(TenonError) in
                try StatusCommand.answer(Setting(arguments: arguments)).give(arguments)
            }),
    ]

    private static let signFlags: [Flag] =
        Flag.key + [
            Flag(name: "--data", value: "@FILE", summary: "the body: @FILE, @- for the standard input, or a text"),
            Flag(name: "--format", value: "FORM", summary: "headers (else), curl, or json"),
        ] + Services.all.flatMap(\.signFlags) + [
            Flag(name: "--send", value: nil, summary: "do the request, and print the answer"),
            Flag(name: "--header", value: "LINE", summary: "of what is sent, as 'Content-Type: text/plain'; many"),
            .caFile,
        ]

    fileprivate static let using = [
        Verb(
            words: ["sign"], operands: "METHOD PATH",
            summary: "Sign a request, and print what to send with it; or send it",
            details: """
                PATH is the path as the service mounts it, or a whole URL, whose query is not signed. A body is read
                piece by piece, whatever its size. Nothing is sent without --send.
                With --send the request is done, and the status and the body of the answer are printed. The identity is
                given the answer: where that speaks of the clock, the key or the nonce, the auth service itself is asked,
                and the request is signed and sent once more if that helps. A body has at most 16 MiB then, an answer
                64 KiB. It ends with 0 after a 2xx, 4 after a 408, 425, 429 or 5xx, 3 after any other; or, where the
                identity found out more, with what that is, as 10 when the device is revoked.
                After a 401 or 403 to what was printed: type it once more with --send, or ask the service with
                tenon register. A request that was only printed teaches the identity nothing.
                """,
            flags: signFlags,
            examples: [
                "tenon sign POST /v1/hsi --data @body.json",
                "eval \"$(tenon sign POST https://api.example.org/v1/hsi --data @body.json --format curl)\"",
                "tenon sign POST /v1/hsi --data @body.json --send --header 'Content-Type: application/json'",
            ],
            run: { arguments throws(TenonError) in
                try await SignCommand.answer(Setting(arguments: arguments)).give(arguments)
            }
        ),
        Verb(
            words: ["rotate"], operands: "", summary: "Change the key: the old one signs until the new one is taken",
            flags: Flag.network + [Flag(name: "--if-due", value: nil, summary: "only where it is old enough")],
            examples: ["tenon rotate", "tenon rotate --if-due"],
            run: { arguments throws(TenonError) in
                try await RotateCommand.answer(Setting(arguments: arguments)).give(arguments)
            }),
        Verb(
            words: ["maintain"], operands: "", summary: "Do what is due: settle, renew, rotate",
            details: "For a timer, once a day.", flags: Flag.network, examples: ["tenon maintain"],
            run: { arguments throws(TenonError) in
                try await MaintainCommand.answer(Setting(arguments: arguments)).give(arguments)
            }),
        Verb(
            words: ["reset"], operands: "", summary: "Forget an identity; its keys go to the attic",
            details: "The service is not told. Also for a state that cannot be read.",
            flags: Flag.identity + [.confirmed], examples: ["tenon reset --yes"],
            run: { arguments throws(TenonError) in
                try await ResetCommand.answer(Setting(arguments: arguments)).give(arguments)
            }),
    ]

    fileprivate static let proving = [
        Verb(
            words: ["attest"], operands: "NONCE", summary: "Prove that the identity's key lives in the TPM",
            details: "NONCE is what the verifier drew: 32 bytes in hex. Nothing is sent.", flags: Flag.key,
            examples: ["tenon attest $(openssl rand -hex 32) --json > proof.json"],
            run: { arguments throws(TenonError) in
                try await AttestCommand.answer(Setting(arguments: arguments)).give(arguments)
            }),
        Verb(
            words: ["verify"], operands: "FILE", summary: "Check a proof, rule by rule",
            details: """
                FILE is what attest --json printed (- is the standard input). Whom to trust is said by one of --ak,
                the attestation key as it is known from elsewhere, and --roots. Needs no TPM.
                """,
            flags: [
                .json, Flag(name: "--nonce", value: "HEX", summary: "the one that was drawn for this proof"),
                Flag(name: "--ak", value: "BASE64", summary: "the attestation key's public area"),
                Flag(name: "--roots", value: "FILE", summary: "PEM: the roots of attestation CAs"),
            ], examples: ["tenon verify proof.json --nonce $NONCE --ak $AK"],
            run: { arguments throws(TenonError) in try VerifyCommand.answer(arguments).give(arguments) }),
        Verb(
            words: ["keys", "list"], operands: "", summary: "List the keys of the identities, and the attic",
            flags: Flag.identity, examples: ["tenon keys list"],
            run: { arguments throws(TenonError) in
                try KeysCommand.list(Setting(arguments: arguments)).give(arguments)
            }),
        Verb(
            words: ["keys", "purge"], operands: "", summary: "Empty the attic: nothing of it comes back",
            flags: Flag.identity + [
                .confirmed,
                Flag(name: "--old", value: nil, summary: "only what is older than 90 days and not of the newest 16"),
            ], examples: ["tenon keys purge --old", "tenon keys purge --yes"],
            run: { arguments throws(TenonError) in
                try await KeysCommand.purge(Setting(arguments: arguments)).give(arguments)
            }),
    ]
}

extension Verb {
    static let measuring = [
        Verb(
            words: ["bench", "compare"], operands: "A B",
            summary: "Say what became faster or slower from one run to another",
            details: """
                A and B are what bench --out wrote, or make bench. Ends with 3 when something of Tenon's is slower, or
                needs more instructions or TPM commands, beyond noise and 3 %; between two machines, or two TPMs,
                nothing is.
                """,
            flags: [.json], examples: ["tenon bench compare before.json after.json"],
            run: { arguments throws(TenonError) in try BenchCompareCommand.answer(arguments).give(arguments) }),
        Verb(
            words: ["bench"], operands: "", summary: "Measure this TPM, and what is added to it: about a minute",
            details: """
                With a key of its own, which is in the TPM's memory only and gone in the end. Nothing is written into
                the TPM but with --persist.
                """,
            flags: [
                .json, .tpm, .ownerAuth, .endorsementAuth,
                Flag(name: "--rounds", value: "N", summary: "of each line (else as many as take about a minute)"),
                Flag(
                    name: "--persist", value: nil, summary: "also with a persistent copy of the key, which is evicted"),
                Flag(name: "--out", value: "FILE", summary: "write JSON lines: for bench compare, and Bench/report.py"),
                Flag(name: "--smoke", value: nil, summary: "each line once, and the TPM commands that it sends"),
            ], examples: ["tenon bench", "tenon bench --persist --out this-tpm.json", "tenon bench --smoke"],
            run: { arguments throws(TenonError) in try await BenchCommand.run(Setting(arguments: arguments)) }),
    ]
}
