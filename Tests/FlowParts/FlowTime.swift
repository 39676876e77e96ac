// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
package import Tenon

/// Time that advances only when somebody sleeps.
package final class FlowTime: Sendable {
    private struct State {
        var now = ContinuousClock.now
        var wall = Duration.seconds(1_800_000_000)
        var pauses: [Duration] = []
        var chance = Duration.zero
        var onSleep: (@Sendable () -> Void)?
        var boots = 1
    }

    private let state = Mutex(State())

    package init() {}

    package var moment: Moment { state.withLock { Moment(continuous: $0.now, sinceEpoch: $0.wall) } }
    package var seconds: Int64 { moment.sinceEpoch.components.seconds }
    package var pauses: [Duration] { state.withLock { $0.pauses } }

    package func advance(_ length: Duration) {
        state.withLock { state in
            state.now += length
            state.wall += length
        }
    }

    /// Sets the wall clock, as a person does.
    package func setWall(by length: Duration) { state.withLock { $0.wall += length } }

    /// Restarts the machine: the boot clock begins again, and the wall clock has continued.
    package func reboot(after length: Duration) {
        state.withLock { state in
            state.now = ContinuousClock().systemEpoch + .seconds(60)
            state.wall += length
            state.boots += 1
        }
    }

    package func setChance(_ chance: Duration) { state.withLock { $0.chance = chance } }

    package func onSleep(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onSleep = body } }

    package var clock: FlowClock {
        FlowClock(
            moment: { self.moment }, boot: "boot \(state.withLock { $0.boots })",
            wait: { deadline in
                let hook = self.state.withLock { state in
                    let length = state.now.duration(to: deadline)
                    state.pauses.append(length)
                    state.now += length
                    state.wall += length
                    return state.onSleep
                }
                hook?()
                try Task.checkCancellation()
            },
            draw: { limit in self.state.withLock { min($0.chance, limit) } })
    }
}
