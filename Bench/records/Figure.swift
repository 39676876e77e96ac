// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// One figure of those that Tenon has to reach.
package struct Figure {
    package enum Bound {
        case atMost(Double)
        case atLeast(Double)
    }

    let name: String
    let what: String
    let bound: Bound?
    /// nil: it was not measured.
    let value: Double?
    let unit: String
    /// Whether `Bench/run --check` fails on it: only on what the machine's load does not change.
    let isGate: Bool

    /// - Parameter bound: nil for what is only told.
    package init(
        _ name: String, _ what: String, _ bound: Bound? = nil, _ value: Double?, _ unit: String = "",
        isGate: Bool = false
    ) {
        (self.name, self.what, self.bound) = (name, what, bound)
        (self.value, self.unit, self.isGate) = (value, unit, isGate)
    }

    package var isReached: Bool? {
        guard let bound, let value else { return nil }
        return switch bound {
        case .atMost(let most): value <= most
        case .atLeast(let least): value >= least
        }
    }

    /// For people: `at most 5000 ns: reached`.
    package var verdict: String {
        let limit: String
        switch bound {
        case .atMost(let most): limit = "at most \(Int(most))"
        case .atLeast(let least): limit = "at least \(Int(least))"
        case nil: return ""
        }
        let said = isReached.map { $0 ? "reached" : "NOT reached" } ?? "not measured"
        return limit + (unit.isEmpty ? "" : " " + unit) + ": " + said
    }

    var json: JSON {
        var object = JSONObject()
        object["kind"] = "figure"
        object["figure"] = .string(name)
        object["what"] = .string(what)
        object["bound"] =
            switch bound {
            case .atMost(let most): ["<=", JSON(value: most)]
            case .atLeast(let least): [">=", JSON(value: least)]
            case nil: .null
            }
        object["value"] = value.map { JSON(value: $0) } ?? .null
        object["unit"] = .string(unit)
        object["reached"] = isReached.map(JSON.bool) ?? .null
        object["gate"] = .bool(isGate)
        if value == nil { object["reason"] = "--smoke" }
        return .object(object)
    }
}
