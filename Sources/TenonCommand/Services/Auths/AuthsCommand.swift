// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuths
internal import TenonCommandLine

extension CommandService {
    /// A service that registers KERI identifiers.
    static let auths = CommandService(
        profile: "auths", dialects: [Auths.dialect],
        registerDetails: """
            With --kind auths the device makes a KERI identifier of two keys in the TPM, and sends its signed inception
            until the service has it. If the device is already registered, it asks the service for its log.
            """,
        registerFlags: "", verbs: Verb.auths, signFlags: [], mends: [:],
        normalURL: { url throws(TenonError) in try Auths(baseURL: url, appID: "x").baseURL },
        makeProfile: { url, app, _ throws(TenonError) in try Auths(baseURL: url, appID: app) },
        signedPath: { _, arguments throws(TenonError) in
            throw arguments.mistake(
                "A KERI identifier signs no requests of this form. Use tenon auths present or sign.")
        })
}

extension Verb {
    fileprivate static let auths = [
        Verb(
            words: ["auths", "log"], operands: "", summary: "Show a KERI identifier, or write its log to a folder",
            details: """
                Reads only the disk. DIR/0.json, 0.att, 1.json and so on are the events that the service accepted, with
                their signatures. Files that are there already have to be the same. Works also after the keys were lost.
                """,
            flags: Flag.identity + [
                Flag(name: "--out", value: "DIR", summary: "the folder for the events; made if it does not exist")
            ], examples: ["tenon auths log", "tenon auths log --out kel"],
            run: { arguments throws(TenonError) in
                try await AuthsLogCommand.answer(Setting(arguments: arguments, kind: "auths")).give(arguments)
            }),
        Verb(
            words: ["auths", "sign"], operands: "", summary: "Sign the standard input with the identifier's key",
            details: """
                Prints r and s in 128 hexadecimal digits. Refuses what could be taken for a message of the device: a
                JSON object, a NUL, the form of a request, a rotation or a JWS. At most 16 MiB.
                """,
            flags: Flag.key, examples: ["printf hello | tenon auths sign"],
            run: { arguments throws(TenonError) in
                try await AuthsSignCommand.answer(Setting(arguments: arguments, kind: "auths")).give(arguments)
            }),
        Verb(
            words: ["auths", "present"], operands: "", summary: "Print a header that logs the identifier in, once",
            details: """
                Asks the service for a nonce unless --nonce gives one. The verifier accepts the header once.
                """,
            flags: Flag.key + [
                .caFile, .timeout,
                Flag(name: "--audience", value: "NAME", summary: "the verifier (default: the service's origin)"),
                Flag(name: "--nonce", value: "BASE64URL", summary: "the verifier's nonce, 16 to 128 bytes"),
                Flag(name: "--credential", value: "SAID", summary: "the credential (default: the inception)"),
            ], examples: ["curl -X POST -H \"$(tenon auths present)\" https://api.example.org/auths/app_1/api"],
            run: { arguments throws(TenonError) in
                try await AuthsPresentCommand.answer(Setting(arguments: arguments, kind: "auths")).give(arguments)
            }),
        Verb(
            words: ["auths", "verify"], operands: "DIR", summary: "Check a KERI log, rule by rule",
            details: "DIR holds 0.json, 0.att, 1.json and so on, as auths log writes them. Needs no TPM.",
            flags: [.json], examples: ["tenon auths verify kel"],
            run: { arguments throws(TenonError) in try AuthsVerifyCommand.answer(arguments).give(arguments) }),
    ]
}
