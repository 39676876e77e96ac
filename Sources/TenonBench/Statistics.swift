// SPDX-License-Identifier: Apache-2.0

extension [Double] {
    /// The quantile of values in ascending order; there must be at least one.
    package func quantile(_ part: Double) -> Double {
        self[Swift.min(Int(part * Double(count)), count - 1)]
    }

    /// The value in the middle; there must be at least one value.
    package var median: Double { sorted().quantile(0.5) }
}

/// The median and the quartiles of some rounds.
package struct Quartiles: Sendable {
    package let low: Double
    package let median: Double
    package let high: Double

    package init(of values: [Double]) {
        let values = values.sorted()
        (low, median, high) = (values.quantile(0.25), values.quantile(0.5), values.quantile(0.75))
    }

    /// The speed of the first relative to the other, round by round; above 1 it is faster. A disturbance of the machine
    /// affects both alike.
    package init(speedOf first: [Double], beside other: [Double]) {
        self.init(of: zip(other, first).map { $0 / $1 })
    }
}

/// How the speed of one line changed between two runs.
package struct SpeedChange: Sendable {
    package enum Kind: String, Sendable {
        case noise
        case withinMargin = "within margin"
        case faster
        case slower = "SLOWER"
    }

    /// Decision: bench-margin.
    static let margin = 0.03

    /// The median of the first run over that of the second: above 1, the second is faster.
    package let speed: Double
    /// How far the two distributions overlap: 1 when they cannot be told apart.
    package let overlap: Double
    package let kind: Kind

    init(_ first: [Double], _ second: [Double]) {
        let (a, b) = (Quartiles(of: first), Quartiles(of: second))
        speed = a.median / b.median
        let share = Self.slowerShare(first, second)
        overlap = 2 * min(share, 1 - share)
        let isApart = a.high < b.low || b.high < a.low
        kind =
            !isApart
            ? .noise
            : abs(1 / speed - 1) <= Self.margin
                ? .withinMargin
                : speed > 1 ? .faster : .slower
    }

    /// How often a round of the second run is slower than one of the first: 0.5 when nothing changed.
    private static func slowerShare(_ first: [Double], _ second: [Double]) -> Double {
        let (first, second) = (first.sorted(), second.sorted())
        var (below, upTo, twice) = (0, 0, 0)
        for value in second {
            while below < first.count, first[below] < value { below += 1 }
            while upTo < first.count, first[upTo] <= value { upTo += 1 }
            twice += below + upTo
        }
        return Double(twice) / 2 / (Double(first.count) * Double(second.count))
    }
}
