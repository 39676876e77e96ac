// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A figure that a bench must reach, and the value that was measured.
package struct BenchFigure: Sendable {
    package enum Bound: Sendable {
        case atLeast(Double)
        case atMost(Double)
    }

    package let name: String
    package let what: String
    /// nil when the figure is only reported.
    package let bound: Bound?
    /// nil when the figure was not measured.
    package let value: Double?
    package let unit: String
    /// Whether `Bench/run --check` fails on it. Only figures that do not depend on the machine's load are gates.
    let isGate: Bool

    package init(
        _ name: String, _ what: String, _ bound: Bound? = nil, _ value: Double?, _ unit: String = "",
        isGate: Bool = false
    ) {
        (self.name, self.what, self.bound) = (name, what, bound)
        (self.value, self.unit, self.isGate) = (value, unit, isGate)
    }

    /// nil when the figure was not measured, or has no bound.
    package var isReached: Bool? {
        guard let bound, let value else { return nil }
        return switch bound {
        case .atLeast(let least): value >= least
        case .atMost(let most): value <= most
        }
    }

    /// The verdict as people read it: `at most 5000 ns: reached`.
    package var verdict: String {
        let limit: String
        switch bound {
        case .atMost(let most): limit = "at most \(Decimal.count(most))"
        case .atLeast(let least): limit = "at least \(Decimal.count(least))"
        case nil: return ""
        }
        let outcome = isReached.map { $0 ? "reached" : "NOT reached" } ?? "not measured"
        return limit + (unit.isEmpty ? "" : " " + unit) + ": " + outcome
    }

    /// The JSON line, as Bench/run writes it.
    package var record: JSON {
        var object = JSONObject()
        object["kind"] = "figure"
        object["figure"] = .string(name)
        object["what"] = .string(what)
        object["bound"] =
            switch bound {
            case .atLeast(let least): [">=", Self.number(least)]
            case .atMost(let most): ["<=", Self.number(most)]
            case nil: .null
            }
        object["value"] = value.map(Self.number) ?? .null
        object["unit"] = .string(unit)
        object["reached"] = isReached.map(JSON.bool) ?? .null
        object["gate"] = .bool(isGate)
        if value == nil { object["reason"] = "--smoke" }
        return .object(object)
    }

    /// Counts are written without a fraction.
    private static func number(_ value: Double) -> JSON {
        Int64(exactly: value).map(JSON.integer) ?? .rounded(value, 4)
    }
}
