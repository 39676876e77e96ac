// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// What became faster or slower from one run of a bench to another.
package struct Comparison: Sendable {
    struct Line: Sendable {
        let key: BenchResults.Key
        /// Who ran beside it in both: the load of the machine cancels out of the ratio to that. nil: times are compared.
        let beside: String?
        let verdict: Verdict

        /// Times alone are the machine's load, too: counts tell there.
        var isRegressed: Bool { key.by == Comparison.own && beside != nil && verdict.kind == .slower }
    }

    struct Count: Sendable {
        let name: String
        let before: Double
        let after: Double

        var change: Double { after / before - 1 }
        var isRegressed: Bool { change > Verdict.margin && name.contains(" \(Comparison.own)") }
    }

    fileprivate static let own = "tenon"

    let machines: [[String: String]]
    let lines: [Line]
    let missing: [(key: BenchResults.Key, isInFirst: Bool)]
    /// Those that changed by more than the margin.
    let counts: [Count]
    let comparedCounts: Int

    /// - Throws: ``TenonError/Code/options`` when nothing was measured in both.
    package init(_ first: BenchResults, _ second: BenchResults) throws(TenonError) {
        let (a, b) = (first.rounds, second.rounds)
        machines = [first.machine, second.machine]
        lines = a.keys.filter { b[$0] != nil }.sorted().map { key in
            let beside = Self.reference(of: key, in: a, b)
            return Line(
                key: key, beside: beside?.by,
                verdict: Verdict(Self.rounds(of: key, beside, in: a), Self.rounds(of: key, beside, in: b)))
        }
        guard !lines.isEmpty else {
            throw TenonError(
                .options,
                message: "The two files have no line in common.\nCompare two runs of the same bench.")
        }
        let others = a.keys.filter { b[$0] == nil } + b.keys.filter { a[$0] == nil }
        missing = others.sorted().map { ($0, a[$0] != nil) }
        let common = first.counts.compactMap { name, before in
            second.counts[name].map { Count(name: name, before: before, after: $0) }
        }
        comparedCounts = common.count
        counts = common.filter { abs($0.change) > Verdict.margin }.sorted { $0.name < $1.name }
    }

    private static func reference(
        of key: BenchResults.Key, in first: [BenchResults.Key: [Double]], _ second: [BenchResults.Key: [Double]]
    ) -> BenchResults.Key? {
        // The build's own library does the same work, so whatever the machine does to one it does to both.
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

    package var isOneMachine: Bool { machines[0] == machines[1] }

    package var regressedCounts: Int { counts.count(where: \.isRegressed) }

    /// Whether something of Tenon's became worse: nothing does between two machines.
    package var isRegressed: Bool {
        isOneMachine
            && (regressedCounts > 0 || lines.contains(where: \.isRegressed))
    }
}
