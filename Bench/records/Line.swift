// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// One line of a bench: what one operation took, of each sample, in nanoseconds.
package struct Line {
    private static let mostRounds = 100

    package let name: String
    package let by: String
    package let samples: [Double]
    /// Of the process that is measured.
    package var cpu: Double
    /// How many there were in a second, where many are under way at once.
    package var perSecond: Double?
    /// What only this line has.
    package var more = JSONObject()

    package init(_ name: String, by: String = "tenon", _ samples: [Double], cpu: Double) {
        (self.name, self.by, self.samples, self.cpu) = (name, by, samples.isEmpty ? [0] : samples, cpu)
    }

    package static func median(_ values: some Collection<Double>) -> Double { values.sorted()[values.count / 2] }

    /// Of many samples, each round's median.
    private var rounds: [Double] {
        guard samples.count > 2 * Line.mostRounds else { return samples }
        let size = samples.count / Line.mostRounds
        return (0..<Line.mostRounds).map { Line.median(samples[$0 * size..<($0 + 1) * size]) }
    }

    var json: JSON {
        let sorted = samples.sorted()
        func part(_ hundredth: Int) -> JSON { JSON(value: sorted[(sorted.count - 1) * hundredth / 100]) }
        let rounds = rounds
        let middle = Line.median(samples)
        var object = more
        object["kind"] = "line"
        object["backend"] = .string(Records.backend)
        object["line"] = .string(name)
        object["by"] = .string(by)
        object["rounds"] = .integer(Int64(rounds.count))
        object["operations"] = .integer(Int64(samples.count))
        object["p50_ns"] = JSON(value: middle)
        object["p95_ns"] = part(95)
        object["p99_ns"] = part(99)
        object["min_ns"] = part(0)
        object["per_second"] = JSON(value: perSecond ?? (middle > 0 ? 1e9 / middle : 0))
        object["cpu_ns"] = JSON(value: cpu)
        object["percentiles_ns"] = .array((0...100).map(part))
        object["rounds_ns"] = .array(rounds.map { JSON(value: $0) })
        return .object(object)
    }
}
