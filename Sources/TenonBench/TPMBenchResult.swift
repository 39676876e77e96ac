// SPDX-License-Identifier: Apache-2.0
package import Tenon
package import TenonTPM

/// What the bench of a TPM found.
package final class TPMBenchResult: Sendable {
    package let info: TPM.Info
    /// The commands of one operation of each line with a TPM.
    package let commands: [(line: String, commands: [String])]
    /// Nothing where nothing was measured.
    package let lines: [MeasuredLine]
    package let rounds: Int

    init(
        _ info: TPM.Info, _ commands: [(line: String, commands: [String])], _ lines: [MeasuredLine], rounds: Int
    ) {
        self.info = info
        self.commands = commands
        self.lines = lines
        self.rounds = rounds
    }

    /// The floor beside which a line of Tenon's was measured.
    package func floor(of line: MeasuredLine) -> MeasuredLine? {
        line.by == TPMBenchLine.own ? lines.first { $0.line == line.line && $0.by != line.by } : nil
    }

    /// P1, P2 and P5, as far as they were measured.
    package var figures: [BenchFigure] { speeds + firsts }

    private var speeds: [BenchFigure] {
        [
            ("P1", "tpm-sign", "password", 0.97), ("P2", "tpm-sign-salted", "salted HMAC", 0.92),
            ("P2", "tpm-sign-encrypted", "salted, AES-CFB", 0.92),
        ].flatMap { name, line, what, least -> [BenchFigure] in
            guard let own = lines.first(where: { $0.line == line }), let floor = floor(of: own) else { return [] }
            return [
                BenchFigure(
                    name, "warm TPM signature, \(what), beside the raw exchange", .atLeast(least),
                    Quartiles(speedOf: own.rounds, beside: floor.rounds).median),
                BenchFigure(name, "  its TPM commands, \(what)", .atMost(1), own.commands),
            ]
        }
    }

    private var firsts: [BenchFigure] {
        [("srk", "blob under SRK", 2), ("primary", "blob under primary", 2), ("handle", "persistent handle", 1)]
            .compactMap { line, what, most in
                let names = commands.first { $0.line == "tpm-first-\(line)" }?.commands
                guard !lines.isEmpty, let before = names?.firstIndex(of: "Sign") else { return nil }
                return BenchFigure(
                    "P5", "TPM commands before a process's first signature, \(what)", .atMost(most), Double(before))
            }
    }

    /// The records that Bench/report.py and a comparison read.
    package func records(of machine: BenchMachine) -> [JSON] {
        var records = BenchRecords()
        for (line, names) in commands { records.add(commands: names, of: line) }
        for line in lines { records.add(line) }
        let peer: JSON = [
            "kind": "peer", "name": "raw", "version": .string(tenonVersion), "backend": .string(tenonBackend),
        ]
        let ratios = lines.compactMap { line in floor(of: line).map { line.ratio(to: $0) } }
        return [machine.record, peer] + records.all + ratios + figures.map(\.record)
    }
}
