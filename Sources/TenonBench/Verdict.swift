// SPDX-License-Identifier: Apache-2.0

/// What is said of the rounds of one line in two runs.
package struct Verdict: Sendable {
    package enum Kind: String, Sendable {
        case noise
        case withinMargin = "within margin"
        case faster
        case slower = "SLOWER"
    }

    /// Decision: bench-margin.
    static let margin = 0.03

    /// The median of the first over that of the second: over 1, the second is faster.
    package let speed: Double
    /// How far the two distributions cover each other: 1 where nothing tells them apart.
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

    /// How often a round of the second is slower than one of the first: 0.5 where nothing changed.
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
