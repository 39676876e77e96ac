// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonBench

/// What is printed: progress where somebody looks on, a table, and records.
enum Report {
    static func print(_ text: String) { write(text, to: 1) }

    static func note(_ text: String) { write(text, to: 2) }

    private static func write(_ text: String, to file: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    /// On a terminal, how far a phase is; nothing in a pipe.
    static func progress(_ phase: String, of count: Int) -> (Int) -> Void {
        guard isatty(2) == 1 else { return { _ in } }
        return { done in
            note("\r\(phase) \(done) of \(count)\(done == count ? "\n" : "")")
        }
    }

    static func table(_ phases: [(name: String, samples: Samples)]) {
        let head = ["phase", "requests", "good", "seconds", "per s", "p50 ms", "p95 ms", "p99 ms"]
        let rows = phases.map { name, samples in
            [
                name, "\(samples.latencies.count)", "\(samples.good)", Decimal.text(samples.seconds, 2),
                Decimal.text(samples.rate, 0), Decimal.text(samples.percentile(0.5), 2),
                Decimal.text(samples.percentile(0.95), 2),
                Decimal.text(samples.percentile(0.99), 2),
            ]
        }
        for row in [head] + rows { print(row.map { padded($0, 10) }.joined() + "\n") }
        for (name, samples) in phases {
            for (code, count) in samples.errors.sorted(by: { $0.key < $1.key }) {
                print("\(name): \(count) times \(code)\n")
            }
        }
    }

    /// Of each phase a line.
    static func records(_ phases: [(name: String, samples: Samples)]) -> BenchRecords {
        var records = BenchRecords()
        for (name, samples) in phases where !samples.latencies.isEmpty {
            var errors = JSONObject()
            for (code, count) in samples.errors { errors[code] = .integer(Int64(count)) }
            var line = MeasuredLine(
                "authority-" + name, samples.latencies.map(Double.init), processor: 0, perSecond: samples.rate)
            line.more["errors"] = .object(errors)
            records.add(line)
        }
        return records
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}
