// SPDX-License-Identifier: Apache-2.0

extension [Double] {
    /// Of values in ascending order, of which there is one at least.
    package func quantile(_ part: Double) -> Double {
        self[Swift.min(Int(part * Double(count)), count - 1)]
    }

    /// The value in the middle; there is one at least.
    package var median: Double { sorted().quantile(0.5) }
}

/// Median and quartiles over rounds.
package struct Quartiles: Sendable {
    package let low: Double
    package let median: Double
    package let high: Double

    package init(of values: [Double]) {
        let values = values.sorted()
        (low, median, high) = (values.quantile(0.25), values.quantile(0.5), values.quantile(0.75))
    }

    /// How fast the first is beside the other (over 1: faster), round by round: what disturbed the machine disturbed
    /// both.
    package init(speedOf first: [Double], beside other: [Double]) {
        self.init(of: zip(other, first).map { $0 / $1 })
    }
}
