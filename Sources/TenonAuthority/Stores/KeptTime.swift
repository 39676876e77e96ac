// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// The latest time that a SQLite store has seen, so that no old request becomes valid again when the clock is set back
/// across a start.
///
/// The clock at the start bounds it, so a clock that was once years ahead has no lasting effect. A kept time more than
/// a day ahead of that clock is not believed, unless the clock has lost its time altogether.
package struct KeptTime: Sendable {
    /// Milliseconds since 1970; the clock never goes back behind this time.
    package let seen: Int64
    /// The kept time, if it is not believed.
    package let disbelieved: Int64?
    /// Whether this is the first process that uses the store.
    package let isNew: Bool

    /// The prefix of the epoch of a horizon that is not believed.
    static let ahead = "ahead "

    /// In seconds. A kept time that is further ahead of the clock is not believed.
    private static let bound: Int64 = 86_400

    /// 2026-01-01. There was no authority before, so an earlier clock has lost its time.
    private static let firstRelease: Int64 = 1_767_225_600_000

    init(in connection: SQLiteConnection, at now: AuthorityInstant) throws(TenonError) {
        let kept = try connection.run("SELECT seen FROM clock").first?.integer(0) ?? 0
        isNew = kept == 0
        guard now.wall >= KeptTime.firstRelease else {
            (seen, disbelieved) = (kept, nil)
            return
        }
        let isBelieved = kept <= now.wall + KeptTime.bound * 1_000
        (seen, disbelieved) = isBelieved ? (kept, nil) : (now.wall, kept)
        try KeptTime.change(connection) { () throws(TenonError) in
            try connection.run(
                """
                INSERT INTO replay_horizons (device, epoch, timestamp, since)
                SELECT device, '\(KeptTime.ahead)' || timestamp, timestamp, timestamp - \(KeptTime.bound) + 1
                FROM replay_horizons WHERE timestamp > ? AND epoch = '' ON CONFLICT DO NOTHING
                """, .integer(now.seconds + KeptTime.bound))
            try KeptTime.lower(connection, above: now.seconds + KeptTime.bound, to: now.seconds)
            if !isBelieved { try connection.run("UPDATE clock SET seen=?", .integer(now.wall)) }
        }
    }

    /// Forgets every time after the present one, because an operator says that the clock is right. Call it only on a
    /// store that nobody uses.
    ///
    /// - Returns: the time that was kept, in milliseconds.
    package static func reset(in folder: AuthorityFolder, at now: AuthorityInstant) throws(TenonError) -> Int64 {
        let connection = try SQLiteStore.connection(in: folder)
        let kept = try connection.run("SELECT seen FROM clock").first?.integer(0) ?? 0
        try change(connection) { () throws(TenonError) in
            try connection.run("DELETE FROM replay_horizons WHERE epoch LIKE '\(ahead)%'")
            try lower(connection, above: now.seconds, to: now.seconds)
            try connection.run("UPDATE clock SET seen=? WHERE seen > ?", .integer(now.wall), .integer(now.wall))
        }
        return kept
    }

    /// Lowers the horizons. Under a right clock, accepted timestamps are ahead of it by at most 2 s (all devices) or
    /// 300 s (one device).
    private static func lower(
        _ connection: SQLiteConnection, above limit: Int64, to seconds: Int64
    ) throws(TenonError) {
        try connection.run(
            """
            UPDATE replay_horizons SET timestamp = min(timestamp, ? + CASE device WHEN '' THEN 2 ELSE 300 END)
            WHERE timestamp > ? AND epoch = ''
            """, .integer(seconds), .integer(limit))
    }

    private static func change(
        _ connection: SQLiteConnection, _ body: () throws(TenonError) -> Void
    ) throws(TenonError) {
        do throws(TenonError) {
            try connection.begin()
            try body()
            try connection.commit()
        } catch {
            connection.rollBack()
            throw error
        }
    }
}

extension SQLiteStore {
    /// The lines about the clock that an operator must see at a start.
    var timeNotices: [String] {
        if let kept = keptTime.disbelieved {
            return [
                """
                The store was last used at \(CivilDate.iso8601(kept / 1_000)), more than a day after the time of this \
                machine's clock. The authority trusts the clock.
                """
            ]
        }
        guard clock.stepBack > StoreHealth.maxClockDifference else { return [] }
        return [
            """
            This machine's clock is \(clock.stepBack / 1_000) s behind what the store has seen: requests are refused until \
            it has caught up. If the clock is right now, stop and run `tenon-authority clock reset`.
            """
        ]
    }
}
