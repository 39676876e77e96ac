// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

@testable import TenonBench

/// The measuring of a bench.
@Suite struct BenchRoundsTests {
    private final class Log {
        var names: [String] = []
    }

    /// Sends a given number of commands, and takes some time.
    private final class CountedSide {
        var calls = 0
        let commands: Int
        let name: String
        let log: Log

        init(_ name: String, commands: Int, _ log: Log = Log()) {
            self.name = name
            self.commands = commands
            self.log = log
        }

        var side: Side {
            Side(name, operations: 2, commands: { self.calls * self.commands }, once)
        }

        /// Longer than a round, so that each is one sample.
        private func once() {
            calls += 1
            log.names.append(name)
            let end = BenchClock.wall.now + 5e6
            while BenchClock.wall.now < end {}
        }
    }

    @Test func takesTurns() throws {
        let log = Log()
        let sides = [CountedSide("tenon", commands: 3, log), CountedSide("raw", commands: 1, log)]
        let measurements = try Rounds(4).measure(sides.map(\.side))
        let calibration = ["tenon", "tenon", "raw", "raw"]
        #expect(log.names == calibration + Array(repeating: ["tenon", "raw"], count: 4).joined())
        let lines = measurements.map { MeasuredLine("line", $0) }
        #expect(lines.map(\.rounds.count) == [4, 4] && lines.map(\.operations) == [8, 8])
        #expect(lines.map(\.commands) == [1.5, 0.5])
        #expect(lines.allSatisfy { $0.p50 >= 2.5e6 && $0.percentiles.count == 101 && $0.p50 <= $0.p99 })
        #expect(lines[0].record["rounds_ns"]?.array?.count == 4)
    }

    @Test func shortOperationsAreTakenTogether() throws {
        var calls = 0
        let side = Side("tenon") { () throws(TenonError) in calls += 1 }
        // By the wall's clock, a machine that does something else meanwhile would make one operation look long.
        let measurement = try #require(try Rounds(3, clock: .thread).measure([side]).first)
        #expect(measurement.operations > 1000 && calls > measurement.operations)
        #expect(MeasuredLine("line", measurement).commands == nil)
    }

    @Test func whatFailsEndsIt() throws {
        let failing = Side("tenon") { () throws(TenonError) in throw TenonError(.tpmBusy, message: "") }
        let failed = #expect(throws: TenonError.self) { try Rounds(3).measure([failing]) }
        #expect(failed?.code == .tpmBusy)
        var left = 3
        let cancelled = #expect(throws: TenonError.self) {
            try Rounds(3) { () throws(TenonError) in
                left -= 1
                if left == 0 { throw .cancelled }
            }.measure([CountedSide("tenon", commands: 0).side])
        }
        #expect(cancelled?.code == .cancelled)
    }

    @Test func quartiles() {
        let speed = Quartiles(speedOf: [2, 2, 2, 2], beside: [1, 2, 3, 4])
        #expect((speed.low, speed.median, speed.high) == (1, 1.5, 2))
        #expect([5.0, 1, 3].median == 3)
    }

    @Test(arguments: [
        (0.0, 0, "0"), (1.005, 1, "1.0"), (-0.06, 1, "-0.1"), (-0.04, 1, "0.0"), (12.3456, 3, "12.346"),
        (2.999, 2, "3.00"),
        (.infinity, 1, "inf"), (.nan, 1, "nan"),
    ])
    func decimals(_ value: Double, _ places: Int, _ text: String) { #expect(Decimal.text(value, places) == text) }

    @Test(arguments: [(1.0, "1"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567"), (1234.5, "1,234.5000")])
    func counts(_ value: Double, _ text: String) { #expect(Decimal.count(value) == text) }
}
