// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// Measures contenders round by round, all in turn (A B A B ...), so that what disturbs the machine disturbs them alike:
/// as Bench/core/runner.c does it.
package struct Rounds {
    package typealias Operation = () throws(TenonError) -> Void

    // A sample is long beside a look at the clock (about 30 ns), a round short beside what disturbs a machine.
    private static let sample = 20e3
    /// The least time that a round of one contender takes.
    static let least = 4e6

    private let count: Int
    private let clock: BenchClock
    private let check: Operation

    /// - Parameters:
    ///   - count: of rounds, at least 1.
    ///   - check: called before each sample; what it throws ends the bench.
    package init(
        _ count: Int, clock: BenchClock = .wall, check: @escaping Operation = { () throws(TenonError) in }
    ) {
        self.count = max(1, count)
        self.clock = clock
        self.check = check
    }

    package func measure(_ contenders: [Contender]) throws(TenonError) -> [Tally] {
        let tallies = contenders.map(Tally.init)
        for tally in tallies { try calibrate(tally) }
        for _ in 0..<count {
            for tally in tallies { try run(tally) }
        }
        return tallies
    }

    /// Also warms up: tables, caches, lazy binding.
    private func calibrate(_ tally: Tally) throws(TenonError) {
        _ = try time(tally)
        var took = try time(tally)
        while took < Self.sample {
            tally.batch *= 2
            took = try time(tally)
        }
        tally.samplesOfRound = took < Self.least ? Int(Self.least / took) : 1
    }

    private func run(_ tally: Tally) throws(TenonError) {
        // Not counted: the one before has left its own in the caches, here and in the TPM's process.
        if tally.samplesOfRound > 1 { _ = try time(tally) }
        let (processor, commands) = (BenchClock.processor.now, tally.commandsSoFar)
        var samples: [Double] = []
        for _ in 0..<tally.samplesOfRound { samples.append(try time(tally) / Double(tally.operationsOfSample)) }
        tally.processor += BenchClock.processor.now - processor
        tally.commands += tally.commandsSoFar - commands
        tally.operations += samples.count * tally.operationsOfSample
        tally.samples += samples
        // Their median: one sample that the machine interrupted shall not stand for the round.
        tally.rounds.append(samples.median)
    }

    /// Nanoseconds of one sample.
    private func time(_ tally: Tally) throws(TenonError) -> Double {
        try check()
        let operation = tally.contender.operation
        let begin = clock.now
        for _ in 0..<tally.batch { try operation() }
        return clock.now - begin
    }
}
