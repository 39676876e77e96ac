// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonCommandLine

extension Program {
    /// The command, with all its verbs.
    static let tenon = Program(
        name: "tenon", version: Build.isDev ? tenonVersion + " dev" : tenonVersion, backend: tenonBackend,
        summary: "a device identity that cannot be copied off the device",
        about: """
            Gives this device an identity whose key is created in the TPM and stays there. Proves that to a service,
            registers the key, signs requests with it, changes it, and says what is wrong and how to fix it.
            """,
        verbs: Verb.registering + Verb.using + Verb.proving + Services.all.flatMap(\.verbs) + Verb.native
            + Verb.measuring,
        firstTry: [
            "A first try without a TPM (sudo apt install swtpm): start a software TPM with a control socket:",
            "    mkdir tpm",
            "    swtpm socket --tpm2 --tpmstate dir=$PWD/tpm --flags not-need-init,startup-clear --daemon \\",
            "        --server type=unixio,path=$PWD/tpm/socket --ctrl type=unixio,path=$PWD/tpm/socket.ctrl",
            "    tenon doctor --tpm swtpm:path=$PWD/tpm/socket",
        ])
}

extension Verb {
    fileprivate static let registering = [
        Verb(
            words: ["doctor"], operands: "", summary: "Find out what is wrong with the TPM, the clock or an identity",
            details: """
                Changes nothing. The exit code is the category of the first problem; notes
                do not count. With --disclose-ek it also prints the certificate that identifies the TPM to services.
                """,
            flags: [.json, .tpm, .trace, .stateDirectory, .ownerAuth, .endorsementAuth, .disclosed],
            examples: ["tenon doctor", "tenon doctor --tpm device:/dev/tpm0 --json"],
            run: { arguments throws(TenonError) in try Doctor.answer(Setting(arguments: arguments)).give(arguments) }),
        Verb(
            words: ["register"], operands: "", summary: "Register this device, or report that it is registered",
            details: """
                After any failure, run it again: it continues with the same key. The identity keeps the contents of
                --ek-chain, --attestation-ca and --attestation-roots once the service has accepted them, so you need to
                give them only once. Give --disclose-ek each time.

                """ + Services.all.map(\.registerDetails).joined(separator: "\n"),
            flags: Flag.network + [.kind, .dialect],
            examples: [
                "tenon register --service https://api.example.org/auth --app app_1 --dialect tenon --disclose-ek"
            ],
            run: { arguments throws(TenonError) in
                try await RegisterCommand.answer(Setting(arguments: arguments)).give(arguments)
            }),
        Verb(
            words: ["status"], operands: "", summary: "Show the state of the identities",
            details: """
                Reads only the disk. With one identity, the exit code is 0 if the device can sign,
                8 if its key is gone, that of the error if its record cannot be read, and 10 otherwise.
                With --check, the exit code for all identities is 10 if one needs a person, 11 if
                something is open, and 0 otherwise; the output says what to do.
                """,
            flags: Flag.identity + [
                Flag(name: "--check", value: nil, summary: "say what each identity needs, for monitoring")
            ], examples: ["tenon status", "tenon status --json", "tenon status --check"],
            run: { arguments throws(TenonError) in
                try StatusCommand.answer(Setting(arguments: arguments)).give(arguments)
            }),
    ]

    private static let signFlags: [Flag] =
        Flag.key + [
            Flag(name: "--data", value: "@FILE", summary: "the body: @FILE, @- for the standard input, or a text"),
            Flag(name: "--format", value: "FORM", summary: "headers (default), curl, or json"),
        ] + Services.all.flatMap(\.signFlags) + [
            Flag(name: "--send", value: nil, summary: "send the request and print the answer"),
            Flag(name: "--header", value: "LINE", summary: "a header, as 'Content-Type: text/plain'; repeatable"),
            Flag(name: "--form", value: "FORM", summary: "the form of signature version 2: plain or batch"),
            Flag(name: "--lines", value: nil, summary: "sign the requests on the standard input, one in JSON a line"),
            .caFile,
        ]

    fileprivate static let using = [
        Verb(
            words: ["sign"], operands: "[METHOD] [PATH]",
            summary: "Sign a request and print its headers, or send it",
            details: """
                PATH is the path as the service mounts it, or a whole URL. For the hosts that the service has
                announced, the request is signed by version 2, which covers host, query and content type, too: send
                it with exactly the headers that are printed. Elsewhere it is version 1, and the query is not
                signed. A body is read piece by piece, so it can have any size. Nothing is sent without --send.
                With --send, the request is sent, and the status and the body of the answer are printed. If the
                answer is about the clock, the key or the nonce, the identity asks the auth service itself,
                and signs and sends the request once more if that helps. The body is then limited to 16 MiB, the
                answer to 64 KiB. The exit code is 0 after a 2xx, 4 after a 408, 425, 429 or 5xx, 3 after any other, or,
                if the identity found a cause, the code of that cause, for example 10 if the device is revoked.
                After a 401 or 403 to a printed request, run the command again with --send, or ask the service with
                tenon register. The identity does not see the answer to a printed request.
                With --lines, each line of the standard input is a request: an object with method and url (or a
                path), and if there are any headers, body or body_base64. For each line there is one on the standard
                output, in the same order, as --format json prints it, or with error. Lines that are there at the
                same time are one batch, for which the TPM signs once.
                """,
            flags: signFlags,
            examples: [
                "tenon sign POST /v1/hsi --data @body.json",
                "eval \"$(tenon sign POST https://api.example.org/v1/hsi --data @body.json --format curl)\"",
                "tenon sign POST /v1/hsi --data @body.json --send --header 'Content-Type: application/json'",
                "tenon sign --lines < requests.jsonl",
            ],
            run: { arguments throws(TenonError) in
                try await SignCommand.answer(Setting(arguments: arguments)).give(arguments)
            }
        ),
        Verb(
            words: ["rotate"], operands: "", summary: "Change the key; the old key signs until the new one is accepted",
            flags: Flag.network + [Flag(name: "--if-due", value: nil, summary: "only if it is old enough")],
            examples: ["tenon rotate", "tenon rotate --if-due"],
            run: { arguments throws(TenonError) in
                try await RotateCommand.answer(Setting(arguments: arguments)).give(arguments)
            }),
        Verb(
            words: ["maintain"], operands: "", summary: "Do what is due: settle, renew, rotate",
            details: "Run it once a day from a timer.", flags: Flag.network, examples: ["tenon maintain"],
            run: { arguments throws(TenonError) in
                try await MaintainCommand.answer(Setting(arguments: arguments)).give(arguments)
            }),
        Verb(
            words: ["reset"], operands: "", summary: "Forget an identity, and put its keys away",
            details: """
                Its keys go to the attic; if its service requires that, they are removed. The service is not told. Also works
                for a state that cannot be read.
                """,
            flags: Flag.identity + [.confirmed], examples: ["tenon reset --yes"],
            run: { arguments throws(TenonError) in
                try await ResetCommand.answer(Setting(arguments: arguments)).give(arguments)
            }),
    ]

    fileprivate static let proving = [
        Verb(
            words: ["attest"], operands: "NONCE", summary: "Prove that the identity's key lives in the TPM",
            details: "NONCE is the verifier's random number: 32 bytes in hex. Nothing is sent.", flags: Flag.key,
            examples: ["tenon attest $(openssl rand -hex 32) --json > proof.json"],
            run: { arguments throws(TenonError) in
                try await AttestCommand.answer(Setting(arguments: arguments)).give(arguments)
            }),
        Verb(
            words: ["verify"], operands: "FILE", summary: "Check a proof, rule by rule",
            details: """
                FILE is the output of attest --json (- is the standard input). Give exactly one of --ak,
                the attestation key as you know it from elsewhere, and --roots. Needs no TPM.
                """,
            flags: [
                .json, Flag(name: "--nonce", value: "HEX", summary: "the nonce that was drawn for this proof"),
                Flag(name: "--ak", value: "BASE64", summary: "the attestation key's public area"),
                Flag(name: "--roots", value: "FILE", summary: "PEM: the roots of attestation CAs"),
            ], examples: ["tenon verify proof.json --nonce $NONCE --ak $AK"],
            run: { arguments throws(TenonError) in try VerifyCommand.answer(arguments).give(arguments) }),
        Verb(
            words: ["verify-request"], operands: "FILE",
            summary: "Check a signed request of version 2, and say which rule refuses it",
            details: """
                FILE is the output of sign --json or a line of sign --lines (- is the standard input). The rules are those
                of docs/signing.md that need no store. Needs no TPM. The exit code is 3 for a request that is refused.
                """,
            flags: [
                .json, Flag(name: "--key", value: "FILE", summary: "PEM: the device's public key"),
                Flag(name: "--data", value: "@FILE", summary: "the body, as for sign"),
                Flag(name: "--host", value: "NAME", summary: "a name of the service; repeatable (default: any)"),
                Flag(name: "--at", value: "SECONDS", summary: "when the request arrived (default: now)"),
            ], examples: ["tenon verify-request request.json --key device.pem --data @body.json"],
            run: { arguments throws(TenonError) in try VerifyRequestCommand.answer(arguments).give(arguments) }),
        Verb(
            words: ["keys", "list"], operands: "", summary: "List the keys of the identities, and the attic",
            flags: Flag.identity, examples: ["tenon keys list"],
            run: { arguments throws(TenonError) in
                try KeysCommand.list(Setting(arguments: arguments)).give(arguments)
            }),
        Verb(
            words: ["keys", "purge"], operands: "", summary: "Delete the keys in the attic; they never come back",
            flags: Flag.identity + [
                .confirmed,
                Flag(name: "--old", value: nil, summary: "only keys older than 90 days and not of the newest 16"),
            ], examples: ["tenon keys purge --old", "tenon keys purge --yes"],
            run: { arguments throws(TenonError) in
                try await KeysCommand.purge(Setting(arguments: arguments)).give(arguments)
            }),
    ]
}

extension Verb {
    private static let nativeFlags: [Flag] = [.json, .tpm, .stateDirectory]

    fileprivate static let native = [
        Verb(
            words: ["native", "status"], operands: "", summary: "Show what a runtime finds here through its callbacks",
            flags: nativeFlags, examples: ["tenon native status"],
            run: { arguments throws(TenonError) in
                try NativeCommand(Setting(arguments: arguments)).status.give(arguments)
            }),
        Verb(
            words: ["native", "list"], operands: "", summary: "List a runtime's keys, and which of them can sign",
            flags: nativeFlags, examples: ["tenon native list"],
            run: { arguments throws(TenonError) in
                try NativeCommand(Setting(arguments: arguments)).list.give(arguments)
            }),
        Verb(
            words: ["native", "export-diagnosis"], operands: "",
            summary: "Print all that is known of a runtime's keys and values, but none of them",
            flags: nativeFlags, examples: ["tenon native export-diagnosis > diagnosis.json"],
            run: { arguments throws(TenonError) in
                try NativeCommand(Setting(arguments: arguments)).diagnosis().give(arguments)
            }),
    ]
}

extension Verb {
    static let measuring = [
        Verb(
            words: ["bench", "compare"], operands: "A B",
            summary: "Compare two runs: what became faster or slower",
            details: """
                A and B are files from bench --out or make bench. Ends with 3 if a line of Tenon became slower, or
                needs more instructions or TPM commands, beyond noise and 3 %. Between two machines or two TPMs
                nothing counts as slower.
                """,
            flags: [.json], examples: ["tenon bench compare before.json after.json"],
            run: { arguments throws(TenonError) in try BenchCompareCommand.answer(arguments).give(arguments) }),
        Verb(
            words: ["bench"], operands: "", summary: "Measure this TPM and what Tenon adds: about a minute",
            details: """
                Uses a key of its own, which exists only in the TPM's memory until the end. Nothing is written into
                the TPM unless you give --persist.
                """,
            flags: [
                .json, .tpm, .ownerAuth, .endorsementAuth,
                Flag(name: "--rounds", value: "N", summary: "rounds of each line (default: those of about a minute)"),
                Flag(
                    name: "--persist", value: nil, summary: "also measure a persistent copy of the key; evict it"),
                Flag(name: "--out", value: "FILE", summary: "write JSON lines for bench compare and Bench/report.py"),
                Flag(name: "--html", value: "FILE", summary: "write a page with plots; it needs no network"),
                Flag(name: "--batch", value: nil, summary: "also measure batches of requests under one signature"),
                Flag(name: "--smoke", value: nil, summary: "run each line once, and print its TPM commands"),
            ],
            examples: [
                "tenon bench", "tenon bench --html this-tpm.html", "tenon bench --persist --out this-tpm.json",
                "tenon bench --smoke",
            ],
            run: { arguments throws(TenonError) in try await BenchCommand.run(Setting(arguments: arguments)) }),
    ]
}
