// SPDX-License-Identifier: Apache-2.0
internal import BenchRecords
internal import Glibc
internal import Tenon

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
                name, "\(samples.latencies.count)", "\(samples.good)", rounded(samples.seconds, 2),
                rounded(samples.rate, 0), rounded(samples.percentile(0.5), 2), rounded(samples.percentile(0.95), 2),
                rounded(samples.percentile(0.99), 2),
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
    static func records(_ phases: [(name: String, samples: Samples)]) -> Records {
        var records = Records()
        for (name, samples) in phases {
            var errors = JSONObject()
            for (code, count) in samples.errors { errors[code] = .integer(Int64(count)) }
            var line = Line("authority-" + name, samples.latencies.map(Double.init), cpu: 0)
            line.perSecond = samples.rate
            line.more["errors"] = .object(errors)
            records.add(line)
        }
        return records
    }

    static func rounded(_ value: Double, _ digits: Int) -> String {
        let scale = pow(10, Double(digits))
        let number = Int((abs(value) * scale).rounded())
        let text = "\(number / Int(scale))"
        guard digits > 0 else { return text }
        let rest = "\(number % Int(scale))"
        return (value < 0 ? "-" : "") + text + "." + String(repeating: "0", count: digits - rest.count) + rest
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}
