// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// What one contender did in one line. Times are in nanoseconds an operation.
package struct MeasuredLine: Sendable {
    package let line: String
    package let by: String
    /// The median of each round.
    package let rounds: [Double]
    package let operations: Int
    /// The hundredths of the samples, from the least to the greatest.
    package let percentiles: [Double]
    package let p50: Double
    package let p95: Double
    package let p99: Double
    /// Of the process that is measured, on a CPU.
    package let processor: Double
    /// nil: there is no TPM in it.
    package let commands: Double?
    package let perSecond: Double
    /// What only this line has.
    package var more = JSONObject()

    package init(_ line: String, _ tally: Tally) {
        self.init(
            line, by: tally.contender.name, tally.samples, rounds: tally.rounds, operations: tally.operations,
            processor: tally.processor / Double(tally.operations),
            commands: tally.contender.commands.map { _ in Double(tally.commands) / Double(tally.operations) })
    }

    /// - Parameters:
    ///   - samples: one at least.
    ///   - rounds: nil: the samples are the rounds, of each hundredth of many the median.
    ///   - perSecond: how many there were, where many were under way at once.
    package init(
        _ line: String, by: String = "tenon", _ samples: [Double], rounds: [Double]? = nil, operations: Int? = nil,
        processor: Double, commands: Double? = nil, perSecond: Double? = nil
    ) {
        (self.line, self.by, self.processor, self.commands) = (line, by, processor, commands)
        self.rounds = rounds ?? Self.rounds(of: samples)
        self.operations = operations ?? samples.count
        let samples = samples.sorted()
        percentiles = (0...100).map { samples[(samples.count - 1) * $0 / 100] }
        (p50, p95, p99) = (samples.quantile(0.5), samples.quantile(0.95), samples.quantile(0.99))
        self.perSecond = perSecond ?? (p50 > 0 ? 1e9 / p50 : 0)
    }

    private static func rounds(of samples: [Double]) -> [Double] {
        let most = 100
        guard samples.count > 2 * most else { return samples }
        let size = samples.count / most
        return (0..<most).map { Array(samples[$0 * size..<($0 + 1) * size]).median }
    }
}

// As Bench/core/report.c writes them.
extension MeasuredLine {
    package var record: JSON {
        var object = more
        object["kind"] = "line"
        object["backend"] = .string(tenonBackend)
        object["line"] = .string(line)
        object["by"] = .string(by)
        object["rounds"] = .integer(Int64(rounds.count))
        object["operations"] = .integer(Int64(operations))
        for (name, value) in [
            ("p50_ns", p50), ("p95_ns", p95), ("p99_ns", p99), ("min_ns", percentiles[0]), ("per_second", perSecond),
            ("cpu_ns", processor),
        ] { object[name] = .rounded(value, 1) }
        object["commands"] = commands.map { .rounded($0, 4) }
        object["percentiles_ns"] = .array(percentiles.map { .rounded($0, 1) })
        object["rounds_ns"] = .array(rounds.map { .rounded($0, 1) })
        return .object(object)
    }

    /// How fast this is beside another one of the same line.
    func ratio(to other: MeasuredLine) -> JSON {
        let speed = Quartiles(speedOf: rounds, beside: other.rounds)
        return [
            "kind": "ratio", "backend": .string(tenonBackend), "line": .string(line), "peer": .string(other.by),
            "median": .rounded(speed.median, 4), "low": .rounded(speed.low, 4), "high": .rounded(speed.high, 4),
        ]
    }
}

extension JSON {
    /// With so many digits behind the point: more would be noise.
    package static func rounded(_ value: Double, _ places: Int) -> JSON {
        let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
        return .number((value * scale).rounded() / scale)
    }
}
