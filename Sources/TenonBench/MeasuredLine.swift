// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// The measurements of one side in one line. Times are in nanoseconds per operation.
package struct MeasuredLine: Sendable {
    package let line: String
    package let by: String
    /// The median of each round.
    package let rounds: [Double]
    package let operations: Int
    /// The percentiles of the samples, from the minimum to the maximum.
    package let percentiles: [Double]
    package let p50: Double
    package let p95: Double
    package let p99: Double
    /// The CPU time of the measured process.
    package let processor: Double
    /// TPM commands per operation; nil when no TPM is involved.
    package let commands: Double?
    package let perSecond: Double
    /// Further members of the record.
    package var more = JSONObject()

    package init(_ line: String, _ measurement: Measurement) {
        self.init(
            line, by: measurement.side.name, measurement.samples, rounds: measurement.rounds,
            operations: measurement.operations,
            processor: measurement.processor / Double(measurement.operations),
            commands: measurement.side.commands.map { _ in Double(measurement.commands) / Double(measurement.operations)
            })
    }

    /// - Parameters:
    ///   - samples: at least one.
    ///   - rounds: nil takes the samples for rounds; more than 200 samples are reduced to 100 medians.
    ///   - perSecond: the rate, when operations overlap; nil derives it from the median.
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

extension MeasuredLine {
    /// The JSON line, as Bench/core/report.c writes it.
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

    /// The speed of this side relative to another side of the same line.
    func ratio(to other: MeasuredLine) -> JSON {
        let speed = Quartiles(speedOf: rounds, beside: other.rounds)
        return [
            "kind": "ratio", "backend": .string(tenonBackend), "line": .string(line), "peer": .string(other.by),
            "median": .rounded(speed.median, 4), "low": .rounded(speed.low, 4), "high": .rounded(speed.high, 4),
        ]
    }
}

extension JSON {
    /// A number with a fixed number of digits after the point; more would be noise.
    package static func rounded(_ value: Double, _ places: Int) -> JSON {
        let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
        return .number((value * scale).rounded() / scale)
    }
}
