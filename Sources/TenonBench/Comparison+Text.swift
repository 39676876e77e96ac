// SPDX-License-Identifier: Apache-2.0
package import Tenon

// What people and machines read of it.
extension Comparison {
    package var text: [String] {
        zip(["A", "B"], machines).map { name, machine in "\(name): \(Self.shown(machine))" }
            + ["", Self.row(["line", "by", "build", "beside", "speed of B", "overlap", " verdict"])]
            + lines.map(Self.row)
            + missing.map { key, isInFirst in
                Self.row([key.line, key.by, key.backend]) + " only in \(isInFirst ? "A" : "B")"
            }
            + [""] + counts.map(Self.text)
            + ["\(comparedCounts) counts compared, \(regressedCounts) regressed"]
            + (isOneMachine ? [] : ["two machines, or two TPMs: nothing above is a regression"])
    }

    private static func shown(_ machine: [String: String]) -> String {
        BenchResults.machineMembers.compactMap { machine[$0] ?? ($0 == "tpm" ? nil : "unknown") }
            .joined(separator: ", ")
    }

    private static func row(_ line: Line) -> String {
        let overlap = Decimal.text(line.verdict.overlap * 100, 0) + "%"
        return row([
            line.key.line, line.key.by, line.key.backend, line.beside ?? "", Decimal.text(line.verdict.speed, 3),
            overlap,
            " " + said(line),
        ])
    }

    private static func said(_ line: Line) -> String {
        switch line.verdict.kind {
        case .slower where line.beside == nil: "slower, by the clock"
        case .faster where line.beside == nil: "faster, by the clock"
        case let kind: kind.rawValue
        }
    }

    /// In columns; those of numbers to the right.
    private static func row(_ cells: [String]) -> String {
        Columns.row(cells, [23, 15, 8, 8, -10, -8, 0])
    }

    private static func text(_ count: Count) -> String {
        let change = (count.change < 0 ? "" : "+") + Decimal.text(count.change * 100, 1)
        let end = count.isRegressed ? " REGRESSED" : ""
        return "\(count.name): \(Decimal.count(count.before)) -> \(Decimal.count(count.after)) (\(change)%)\(end)"
    }

    package var json: JSON {
        let lines = lines.map { line -> JSON in
            [
                "line": .string(line.key.line), "by": .string(line.key.by), "backend": .string(line.key.backend),
                "beside": line.beside.map { .string($0) } ?? .null, "speed": .rounded(line.verdict.speed, 4),
                "overlap": .rounded(line.verdict.overlap, 4),
                "verdict": .string(line.verdict.kind.rawValue.lowercased()),
            ]
        }
        let counts = counts.map { count -> JSON in
            [
                "name": .string(count.name), "before": .number(count.before), "after": .number(count.after),
                "regressed": .bool(count.isRegressed),
            ]
        }
        return [
            "lines": .array(lines), "counts": .array(counts), "counts_compared": .integer(Int64(comparedCounts)),
            "only_in_a": Self.names(missing.filter(\.isInFirst).map(\.key)),
            "only_in_b": Self.names(missing.filter { !$0.isInFirst }.map(\.key)), "one_machine": .bool(isOneMachine),
            "regressed": .bool(isRegressed),
        ]
    }

    private static func names(_ keys: [BenchResults.Key]) -> JSON {
        .array(keys.map { .string("\($0.backend) \($0.line) \($0.by)") })
    }
}
