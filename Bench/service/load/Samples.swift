// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonBench

/// What a phase measured.
struct Samples: Sendable {
    /// Nanoseconds, of each answer.
    private(set) var latencies: [Double] = []
    /// How many answers had this code, those that were good left out: `409 NONCE_REPLAY`.
    private(set) var errors: [String: Int] = [:]
    /// From the first request to the last answer, in seconds.
    var seconds = 0.0

    mutating func add(_ nanoseconds: Double, _ answer: Connection.Answer) {
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

    /// As Bench/run takes it.
    ///
    /// - Throws: ``TenonError/Code/serviceAnswer`` when nothing was answered.
    func line(_ phase: String, processor: Double = 0) throws(TenonError) -> MeasuredLine {
        guard !latencies.isEmpty else {
            throw TenonError(.serviceAnswer, message: "\(phase): nothing was answered: \(errors).")
        }
        var line = MeasuredLine(
            "authority-" + phase, latencies, processor: processor, perSecond: Double(latencies.count) / seconds)
        var refusals = JSONObject()
        for (code, count) in errors { refusals[code] = .integer(Int64(count)) }
        line.more["errors"] = .object(refusals)
        return line
    }
}
