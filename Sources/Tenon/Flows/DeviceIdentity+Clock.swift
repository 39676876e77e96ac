// SPDX-License-Identifier: Apache-2.0

extension DeviceIdentity {
    /// Takes the time that a service told the application, on the caller's thread, which it blocks. A service's own
    /// answers are believed without this.
    ///
    /// - Parameter serverTime: Unix seconds, now.
    /// - Throws: ``TenonError/Code/clockSkew`` for a time that is more than a day away (security.md D4).
    public func correctClock(serverTime: Double, waitingAtMost limit: Duration) throws(TenonError) {
        let moment = context.clock.moment()
        guard 1e9..<1e12 ~= serverTime, abs(Int64(serverTime * 1000) - moment.milliseconds) <= 86_400_000 else {
            throw TenonError(.clockSkew, message: "The time that the service says is more than a day away.")
        }
        let offset = ClockOffset(
            milliseconds: Int64(serverTime * 1000) - moment.milliseconds, wallLessBoot: moment.wallLessBoot,
            boot: context.clock.boot)
        let held = try context.store.lock.acquire(within: limit)
        defer { held.release() }
        guard case .found = context.store.read() else { return }
        try context.store.change(held) { $0.clock = offset }
    }
}
