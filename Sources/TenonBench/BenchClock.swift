// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// What time a sample is measured in.
package enum BenchClock: Sendable {
    case wall
    /// Of all threads of this process on a CPU.
    case processor
    /// Of the calling thread on a CPU: the neighbours' time is not in it.
    case thread

    /// Nanoseconds since some moment.
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
