// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// What a phase measured.
struct Samples: Sendable {
    /// Nanoseconds, of each answer.
    private(set) var latencies: [UInt64] = []
    /// How many answers had this code, those that were good left out: `409 NONCE_REPLAY`.
    private(set) var errors: [String: Int] = [:]
    /// From the first request to the last answer, in seconds.
    var seconds = 0.0

    mutating func add(_ nanoseconds: UInt64, _ answer: Connection.Answer) {
        latencies.append(nanoseconds)
        if answer.status != 200 { errors[answer.verdict, default: 0] += 1 }
    }

    /// What was no answer.
    mutating func add(_ error: TenonError) { errors["\(error.code)", default: 0] += 1 }

    mutating func add(_ other: Samples) {
        latencies += other.latencies
        errors.merge(other.errors) { $0 + $1 }
        seconds += other.seconds
    }

    var good: Int { latencies.count - errors.values.reduce(0, +) }

    var rate: Double { seconds > 0 ? Double(latencies.count) / seconds : 0 }

    /// In milliseconds; the part is 0.5 for the median.
    func percentile(_ part: Double) -> Double {
        guard !latencies.isEmpty else { return 0 }
        let sorted = latencies.sorted()
        let rank = Int((part * Double(sorted.count)).rounded(.up)) - 1
        return Double(sorted[min(max(rank, 0), sorted.count - 1)]) / 1e6
    }
}
