// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import Tenon

/// Measures sides round by round, each in turn (A B A B ...), so that a disturbance of the machine affects all alike.
/// Bench/core/runner.c does the same.
package struct Rounds {
    package typealias Operation = () throws(TenonError) -> Void

    // A sample is much longer than reading the clock (about 30 ns), and a round shorter than most disturbances.
    private static let sample = 20e3
    /// The minimum time of one side's round.
    static let least = 4e6

    private let count: Int
    private let clock: BenchClock
    private let check: Operation

    /// - Parameters:
    ///   - count: the number of rounds, at least 1.
    ///   - check: called before each sample; an error that it throws ends the bench.
    package init(
        _ count: Int, clock: BenchClock = .wall, check: @escaping Operation = { () throws(TenonError) in }
    ) {
        self.count = max(1, count)
        self.clock = clock
        self.check = check
    }

    /// Measures all sides, and returns one measurement for each.
    package func measure(_ sides: [Side]) throws(TenonError) -> [Measurement] {
        let measurements = sides.map(Measurement.init)
        for measurement in measurements { try calibrate(measurement) }
        for _ in 0..<count {
            for measurement in measurements { try run(measurement) }
        }
        return measurements
    }

    /// Chooses the number of calls in a sample, and warms up tables, caches and lazy binding.
    private func calibrate(_ measurement: Measurement) throws(TenonError) {
        _ = try time(measurement)
        var took = try time(measurement)
        while took < Self.sample {
            measurement.batch *= 2
            took = try time(measurement)
        }
        measurement.samplesOfRound = took < Self.least ? Int(Self.least / took) : 1
    }

    private func run(_ measurement: Measurement) throws(TenonError) {
        // This sample does not count: the previous side has filled the caches, here and in the TPM's process.
        if measurement.samplesOfRound > 1 { _ = try time(measurement) }
        let (processor, commands) = (BenchClock.processor.now, measurement.commandsSoFar)
        var samples: [Double] = []
        for _ in 0..<measurement.samplesOfRound {
            samples.append(try time(measurement) / Double(measurement.operationsOfSample))
        }
        measurement.processor += BenchClock.processor.now - processor
        measurement.commands += measurement.commandsSoFar - commands
        measurement.operations += samples.count * measurement.operationsOfSample
        measurement.samples += samples
        // The median, so that one interrupted sample does not stand for the round.
        measurement.rounds.append(samples.median)
    }

    /// Nanoseconds of one sample.
    private func time(_ measurement: Measurement) throws(TenonError) -> Double {
        try check()
        let operation = measurement.side.operation
        let begin = clock.now
        for _ in 0..<measurement.batch { try operation() }
        return clock.now - begin
    }
}

/// One of those who do a line of a bench: Tenon, or what it is compared with.
package struct Side {
    package let name: String
    /// The number of operations that one call does.
    package let operations: Int
    /// The number of TPM commands so far; nil when no TPM is involved.
    package let commands: (() -> Int)?
    package let operation: Rounds.Operation

    package init(
        _ name: String, operations: Int = 1, commands: (() -> Int)? = nil, _ operation: @escaping Rounds.Operation
    ) {
        self.name = name
        self.operations = operations
        self.commands = commands
        self.operation = operation
    }
}

/// The measurement of one side. A sample is the time of `batch` calls; a round is at least one sample.
package final class Measurement {
    let side: Side
    var batch = 1
    var samplesOfRound = 1
    var samples: [Double] = []
    /// The median of each round, in nanoseconds per operation.
    package internal(set) var rounds: [Double] = []
    var processor = 0.0
    var operations = 0
    var commands = 0

    init(_ side: Side) { self.side = side }

    var commandsSoFar: Int { side.commands?() ?? 0 }

    var operationsOfSample: Int { batch * side.operations }
}

/// The clock by which a sample is measured.
package enum BenchClock: Sendable {
    case wall
    /// The CPU time of all threads of this process.
    case processor
    /// The CPU time of the calling thread; other processes do not count.
    case thread

    /// Nanoseconds since an arbitrary moment.
    package var now: Double {
        var time = timespec()
        clock_gettime(identifier, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    private var identifier: clockid_t {
        switch self {
        case .wall: CLOCK_MONOTONIC
        case .processor: CLOCK_PROCESS_CPUTIME_ID
        case .thread: CLOCK_THREAD_CPUTIME_ID
        }
    }
}
