// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonCommandLine

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
