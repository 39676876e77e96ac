// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// Which lines became faster or slower from one run of a bench to another.
package struct Comparison: Sendable {
    struct Line: Sendable {
        let key: BenchResults.Key
        /// The side that ran beside this one in both runs: the machine's load cancels out of their ratio. nil when only
        /// times can be compared.
        let beside: String?
        let change: SpeedChange

        /// Times without a reference also depend on the machine's load, so they are never a regression.
        var isRegressed: Bool { key.by == Comparison.own && beside != nil && change.kind == .slower }
    }

    struct Count: Sendable {
        let name: String
        let before: Double
        let after: Double

        var change: Double { after / before - 1 }
        var isRegressed: Bool { change > SpeedChange.margin && name.contains(" \(Comparison.own)") }
    }

    fileprivate static let own = "tenon"

    let machines: [[String: String]]
    let lines: [Line]
    let missing: [(key: BenchResults.Key, isInFirst: Bool)]
    /// The counts that changed by more than the margin.
    let counts: [Count]
    let comparedCounts: Int

    /// - Throws: ``TenonError/Code/options`` when the runs have no line in common.
    package init(_ first: BenchResults, _ second: BenchResults) throws(TenonError) {
        let (a, b) = (first.rounds, second.rounds)
        machines = [first.machine, second.machine]
        lines = a.keys.filter { b[$0] != nil }.sorted().map { key in
            let beside = Self.reference(of: key, in: a, b)
            return Line(
                key: key, beside: beside?.by,
                change: SpeedChange(Self.rounds(of: key, beside, in: a), Self.rounds(of: key, beside, in: b)))
        }
        guard !lines.isEmpty else {
            throw TenonError(
                .options,
                message: "The two files have no line in common.", mend: "Compare two runs of the same bench.")
        }
        let others = a.keys.filter { b[$0] == nil } + b.keys.filter { a[$0] == nil }
        missing = others.sorted().map { ($0, a[$0] != nil) }
        let common = first.counts.compactMap { name, before in
            second.counts[name].map { Count(name: name, before: before, after: $0) }
        }
        comparedCounts = common.count
        counts = common.filter { abs($0.change) > SpeedChange.margin }.sorted { $0.name < $1.name }
    }

    private static func reference(
        of key: BenchResults.Key, in first: [BenchResults.Key: [Double]], _ second: [BenchResults.Key: [Double]]
    ) -> BenchResults.Key? {
        // The build's own library does the same work, so a disturbance of the machine slows both alike.
        ["raw", key.backend, "openssl", "mbedtls"].lazy.filter { $0 != key.by }
            .map { BenchResults.Key(backend: key.backend, line: key.line, by: $0) }
            .first { first[$0] != nil && second[$0] != nil }
    }

    private static func rounds(
        of key: BenchResults.Key, _ beside: BenchResults.Key?, in all: [BenchResults.Key: [Double]]
    ) -> [Double] {
        let rounds = all[key] ?? []
        guard let beside = beside.flatMap({ all[$0] }) else { return rounds }
        return zip(rounds, beside).map { $0 / $1 }
    }

    /// Whether both runs come from the same machine and TPM.
    package var isOneMachine: Bool { machines[0] == machines[1] }

    /// The number of counts that became worse.
    package var regressedCounts: Int { counts.count(where: \.isRegressed) }

    /// Whether Tenon became slower or costlier. Results of two machines never count as a regression.
    package var isRegressed: Bool {
        isOneMachine
            && (regressedCounts > 0 || lines.contains(where: \.isRegressed))
    }
}

extension Comparison {
    /// The comparison as a table for people.
    package var text: [String] {
        zip(["A", "B"], machines).map { name, machine in "\(name): \(Self.shown(machine))" }
            + ["", Self.row(["line", "by", "build", "beside", "speed of B", "overlap", " verdict"])]
            + lines.map(Self.row)
            + missing.map { key, isInFirst in
                Self.row([key.line, key.by, key.backend]) + " only in \(isInFirst ? "A" : "B")"
            }
            + [""] + counts.map(Self.text)
            + ["\(comparedCounts) counts compared, \(regressedCounts) regressed"]
            + (isOneMachine ? [] : ["two machines or two TPMs: nothing above counts as a regression"])
    }

    private static func shown(_ machine: [String: String]) -> String {
        BenchResults.machineMembers.compactMap { machine[$0] ?? ($0 == "tpm" ? nil : "unknown") }
            .joined(separator: ", ")
    }

    private static func row(_ line: Line) -> String {
        let overlap = Decimal.text(line.change.overlap * 100, 0) + "%"
        return row([
            line.key.line, line.key.by, line.key.backend, line.beside ?? "", Decimal.text(line.change.speed, 3),
            overlap,
            " " + words(line),
        ])
    }

    private static func words(_ line: Line) -> String {
        switch line.change.kind {
        case .slower where line.beside == nil: "slower, by the clock"
        case .faster where line.beside == nil: "faster, by the clock"
        case let kind: kind.rawValue
        }
    }

    /// A row of the table; numbers are aligned to the right.
    private static func row(_ cells: [String]) -> String {
        Columns.row(cells, [23, 15, 8, 8, -10, -8, 0])
    }

    private static func text(_ count: Count) -> String {
        let change = (count.change < 0 ? "" : "+") + Decimal.text(count.change * 100, 1)
        let end = count.isRegressed ? " REGRESSED" : ""
        return "\(count.name): \(Decimal.count(count.before)) -> \(Decimal.count(count.after)) (\(change)%)\(end)"
    }

    /// The comparison for machines.
    package var json: JSON {
        let lines = lines.map { line -> JSON in
            [
                "line": .string(line.key.line), "by": .string(line.key.by), "backend": .string(line.key.backend),
                "beside": line.beside.map { .string($0) } ?? .null, "speed": .rounded(line.change.speed, 4),
                "overlap": .rounded(line.change.overlap, 4),
                "verdict": .string(line.change.kind.rawValue.lowercased()),
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
