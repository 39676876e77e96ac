// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// What has to be reached, and whether it is.
package struct BenchFigure: Sendable {
    package enum Bound: Sendable {
        case atLeast(Double)
        case atMost(Double)
    }

    package let name: String
    package let what: String
    package let bound: Bound
    package let value: Double

    package var isReached: Bool {
        switch bound {
        case .atLeast(let least): value >= least
        case .atMost(let most): value <= most
        }
    }

    /// As Bench/run writes it.
    package var record: JSON {
        let bound: JSON =
            switch bound {
            case .atLeast(let value): [">=", .number(value)]
            case .atMost(let value): ["<=", .number(value)]
            }
        return [
            "kind": "figure", "figure": .string(name), "what": .string(what), "bound": bound,
            "value": .rounded(value, 4), "unit": "", "reached": .bool(isReached), "gate": false,
        ]
    }
}
