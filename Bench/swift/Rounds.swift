// SPDX-License-Identifier: Apache-2.0
import BenchRecords
import Glibc

/// Two that do the same, measured in turn (A B A B ...), so that what disturbs the machine disturbs them alike.
struct Rounds {
    /// Nanoseconds an operation, of each round.
    private(set) var ours: [Double] = []
    private(set) var theirs: [Double] = []

    /// The median of what the first takes longer.
    var difference: Double { Line.median(zip(ours, theirs).map { $0 - $1 }) }

    /// - Parameter operations: of one round.
    init(
        _ rounds: Int, of operations: Int, _ ours: (Int) throws -> Void, over theirs: (Int) throws -> Void
    ) rethrows {
        // The first is for the caches.
        _ = (try Self.time(operations, ours), try Self.time(operations, theirs))
        for _ in 0..<rounds {
            self.ours.append(try Self.time(operations, ours))
            self.theirs.append(try Self.time(operations, theirs))
        }
    }

    private static func time(_ operations: Int, _ body: (Int) throws -> Void) rethrows -> Double {
        let start = processorTime()
        try body(operations)
        return (processorTime() - start) / Double(operations)
    }

    /// Of this thread: the neighbours' time is not in it.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}
