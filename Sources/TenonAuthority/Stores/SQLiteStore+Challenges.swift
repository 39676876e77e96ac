// SPDX-License-Identifier: Apache-2.0
package import Tenon

extension SQLiteStore: ChallengeStore {
    package func put(_ entry: ChallengeEntry, under key: Digest) async throws(TenonError) {
        let encoded = try entry.encoded()
        let now = clock.now()
        let isStored = try await writer.write { [challengeCount] connection throws(TenonError) in
            guard try challengeCount.hasRoom(connection, at: now) else { return false }
            try connection.run(
                "INSERT INTO challenges (key, purpose, wall, boot, entry) VALUES (?, ?, ?, ?, ?)", SQLValue(key), .text(entry.purpose.rawValue),
                .integer(entry.deadline.wall), .integer(entry.deadline.boot), .blob(encoded))
            challengeCount.add(1)
            return true
        }
        guard isStored else {
            throw TenonError(
                .storeFull, message: "As many challenges as may be are outstanding: try again soon.",
                retryAfter: .seconds(10))
        }
    }

    package func take(
        _ purpose: ChallengeEntry.Purpose, under key: Digest
    ) async throws(TenonError) -> ChallengeEntry? {
        let clock = clock
        let row: [UInt8]? = try await writer.write { [challengeCount] connection throws(TenonError) in
            let rows = try connection.run(
                "DELETE FROM challenges WHERE key=? AND purpose=? RETURNING entry", SQLValue(key),
                .text(purpose.rawValue))
            challengeCount.add(-rows.count)
            return try rows.first?.blob(0)
        }
        guard let row else { return nil }
        let entry = try ChallengeEntry(encoded: row)
        return entry.deadline.isPast(at: clock.now()) ? nil : entry
    }
}

/// How many challenges are outstanding, without counting the rows each time. Only the writer's thread touches it.
final class ChallengeCount: Sendable {
    private let limit: Int
    private nonisolated(unsafe) var count: Int?
    private nonisolated(unsafe) var rollbacks = 0
    private nonisolated(unsafe) var sweptAt = Int64.min

    /// Between two removals of what has expired.
    private static let sweepMilliseconds: Int64 = 10_000
    /// At a time: those who wait for the writer do not wait for many.
    private static let sweepRows = 1_000

    init(limit: Int) { self.limit = limit }

    func add(_ change: Int) { count? += change }

    /// Whether one more may be put in, once what has expired is out.
    func hasRoom(_ connection: SQLiteConnection, at now: AuthorityInstant) throws(TenonError) -> Bool {
        if connection.rollbacks != rollbacks { count = nil }
        rollbacks = connection.rollbacks
        if sweptAt == .min || now.boot - sweptAt >= ChallengeCount.sweepMilliseconds {
            try connection.run(
                """
                DELETE FROM challenges WHERE key IN (
                    SELECT key FROM challenges WHERE wall <= ? OR boot <= ? LIMIT \(ChallengeCount.sweepRows))
                """, .integer(now.wall), .integer(now.boot))
            // What is left goes with the next challenge.
            if connection.changes < ChallengeCount.sweepRows { sweptAt = now.boot }
            count = nil
        }
        if count == nil {
            count = try Int(connection.run("SELECT count(*) FROM challenges").first?.integer(0) ?? 0)
        }
        return (count ?? 0) < limit
    }
}
