// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonBench

/// A call of the Swift module beside the calls of the core that it stands on.
struct Contest {
    /// As `Bench/README.md` has it.
    let line: String
    let what: String
    /// Of what Swift takes longer, in nanoseconds; nil for what is only told.
    let bound: Double?
    /// By Swift, and by C; in this thread's time on a CPU, in which the neighbours' is not.
    let lines: [MeasuredLine]

    /// - Parameter many: how often each of the functions does its call.
    init(
        _ line: String, _ what: String, bound: Double? = nil, rounds: Int, many: Int,
        _ swift: @escaping Rounds.Operation, over core: @escaping Rounds.Operation
    ) throws(TenonError) {
        (self.line, self.what, self.bound) = (line, what, bound)
        lines = try Rounds(rounds, clock: .thread).measure([
            Side("tenon", operations: many, swift), Side("c", operations: many, core),
        ]).map { MeasuredLine(line, $0) }
    }

    /// The median of what Swift takes longer.
    private var difference: Double { zip(lines[0].rounds, lines[1].rounds).map { $0 - $1 }.median }

    func figure(isSmoke: Bool) -> BenchFigure {
        BenchFigure("P4", what, bound.map { .atMost($0) }, isSmoke ? nil : difference, "ns")
    }
}
