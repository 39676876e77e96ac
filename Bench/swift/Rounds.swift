// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Two that do the same, measured in turn (A B A B ...), so that what disturbs the machine disturbs them alike.
struct Rounds {
    /// Nanoseconds an operation: the medians of the two, and the median of what the first takes longer.
    let ours: Double
    let theirs: Double
    let difference: Double

    /// - Parameter operations: of one round.
    init(
        _ rounds: Int, of operations: Int, _ ours: (Int) throws -> Void, over theirs: (Int) throws -> Void
    ) rethrows {
        var samples: [(ours: Double, theirs: Double)] = []
        // The first is for the caches.
        for _ in 0...rounds {
            samples.append((try Self.time(operations, ours), try Self.time(operations, theirs)))
        }
        samples.removeFirst()
        self.ours = Self.median(samples.map(\.ours))
        self.theirs = Self.median(samples.map(\.theirs))
        difference = Self.median(samples.map { $0.ours - $0.theirs })
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

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
