// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A store as health looks at it, once a second: what it says is what a client would meet.
package protocol WatchedStore: Sendable {
    /// What the log, the metrics and `tenon-authority health` call it: `redis`, `postgres`, `sqlite`.
    var watchedName: String { get }

    /// Writes something of its own, on a connection that no request waits for, and ends within a few seconds, whatever
    /// the store does.
    ///
    /// - Returns: the store's own time, in milliseconds since 1970; nil when it has none.
    /// - Throws: why it cannot write, in the store's own words.
    func look() async throws(TenonError) -> Int64?
}
