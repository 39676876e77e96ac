// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// Rows that are of no use any more: the statement removes at most so many, in a short transaction.
private struct ExpiredRows {
    let statement: String
    /// Seconds for which they are kept behind their time.
    let kept: Int64

    static let limit = 500
    /// Of one kind at a time: what is left goes a minute later.
    static let rounds = 40

    static let all = [
        ExpiredRows("certificates", "serial", "not_after <= ?", kept: 86_400),
        // For as long as a failover may bring a challenge back (decision: forgetful-stores).
        ExpiredRows("spent_challenges", "hash", "at <= ?", kept: 86_400),
        // A horizon that has passed; the clocks of instances are not that far apart.
        ExpiredRows(
            "replay_horizons", "device, epoch", "timestamp <= ? AND (device <> '' OR epoch <> '')", kept: 86_400),
    ]

    private init(_ table: String, _ key: String, _ condition: String, kept: Int64) {
        statement = """
            DELETE FROM \(table) WHERE (\(key)) IN (SELECT \(key) FROM \(table) WHERE \(condition) \
            LIMIT \(ExpiredRows.limit))
            """
        self.kept = kept
    }
}

extension SQLDeviceStore {
    package func tidy(at now: AuthorityInstant) async throws(TenonError) {
        try await writeWhatIsLeft()
        for expired in ExpiredRows.all {
            for _ in 0..<ExpiredRows.rounds where try await remove(expired, at: now.seconds) < ExpiredRows.limit {
                break
            }
        }
    }

    private func remove(_ expired: ExpiredRows, at seconds: Int64) async throws(TenonError) -> Int {
        try await maintain { connection throws(TenonError) in
            try connection.run(expired.statement, .integer(seconds - expired.kept))
            return connection.changes
        }
    }
}
