// SPDX-License-Identifier: Apache-2.0
import BenchRecords

/// A call of the Swift module beside the calls of the core that it stands on.
struct Contest {
    /// As `Bench/README.md` has it.
    let line: String
    let what: String
    /// Of what Swift takes longer, in nanoseconds; nil for what is only told.
    let bound: Double?
    let rounds: Rounds

    func figure(isSmoke: Bool) -> Figure {
        Figure(
            "P4", what, bound.map { .atMost($0) }, isSmoke ? nil : rounds.difference, "ns")
    }

    var lines: [Line] {
        [("tenon", rounds.ours), ("c", rounds.theirs)].map { by, times in
            Line(line, by: by, times, cpu: Line.median(times))
        }
    }

    func row(isSmoke: Bool) -> String {
        let numbers = [Line.median(rounds.ours), Line.median(rounds.theirs), rounds.difference].map { number in
            let text = isSmoke ? "-" : "\(Int(number.rounded()))"
            return String(repeating: " ", count: max(0, 10 - text.utf8.count)) + text
        }
        let name = line + String(repeating: " ", count: max(1, 26 - line.utf8.count))
        return name + numbers.joined() + "  " + figure(isSmoke: isSmoke).verdict
    }
}
