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
    /// nil: it is only told.
    package let bound: Bound?
    /// nil: it was not measured.
    package let value: Double?
    package let unit: String
    /// Whether `Bench/run --check` fails on it: only on what the machine's load does not change.
    let isGate: Bool

    package init(
        _ name: String, _ what: String, _ bound: Bound? = nil, _ value: Double?, _ unit: String = "",
        isGate: Bool = false
    ) {
        (self.name, self.what, self.bound) = (name, what, bound)
        (self.value, self.unit, self.isGate) = (value, unit, isGate)
    }

    /// nil: it was not measured, or there is nothing to reach.
    package var isReached: Bool? {
        guard let bound, let value else { return nil }
        return switch bound {
        case .atLeast(let least): value >= least
        case .atMost(let most): value <= most
        }
    }

    /// For people: `at most 5000 ns: reached`.
    package var verdict: String {
        let limit: String
        switch bound {
        case .atMost(let most): limit = "at most \(Decimal.count(most))"
        case .atLeast(let least): limit = "at least \(Decimal.count(least))"
        case nil: return ""
        }
        let said = isReached.map { $0 ? "reached" : "NOT reached" } ?? "not measured"
        return limit + (unit.isEmpty ? "" : " " + unit) + ": " + said
    }

    /// As Bench/run writes it.
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

    /// A count has no fraction.
    private static func number(_ value: Double) -> JSON {
        Int64(exactly: value).map(JSON.integer) ?? .rounded(value, 4)
    }
}
