// SPDX-License-Identifier: Apache-2.0
package import Tenon

extension SQLiteStore: ChallengeStore {
    package func put(_ entry: ChallengeEntry, under key: Digest) async throws(TenonError) {
        let encoded = try entry.encoded()
        let now = clock.now()
        let refusal = try await writer.write { [challengeCount] connection throws(TenonError) -> TenonError? in
            if let refusal = try challengeCount.refusal(of: entry.asker, connection, at: now) { return refusal }
            try connection.run(
                "INSERT INTO challenges (key, purpose, wall, boot, entry, asker) VALUES (?, ?, ?, ?, ?, ?)",
                SQLValue(key), .text(entry.purpose.rawValue), .integer(entry.deadline.wall),
                .integer(entry.deadline.boot), .blob(encoded), .text(entry.asker))
            challengeCount.add(1)
            return nil
        }
        if let refusal { throw refusal }
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
    private let share: AddressShare
    private nonisolated(unsafe) var count: Int?
    private nonisolated(unsafe) var rollbacks = 0
    private nonisolated(unsafe) var sweptAt = Int64.min

    /// Between two removals of what has expired.
    private static let sweepMilliseconds: Int64 = 10_000
    /// At a time: those who wait for the writer do not wait for many.
    private static let sweepRows = 1_000

    init(_ share: AddressShare) { self.share = share }

    func add(_ change: Int) { count? += change }

    /// Why no other may be put in, once what has expired is out.
    func refusal(
        of asker: String, _ connection: SQLiteConnection, at now: AuthorityInstant
    ) throws(TenonError) -> TenonError? {
        let used = try outstanding(connection, at: now)
        if used >= share.places { return .challengesFull }
        guard !asker.isEmpty, share.isScarce(used: used) else { return nil }
        let rows = try connection.run(
            "SELECT count(*) FROM challenges WHERE asker=? AND asker <> '' AND wall > ? AND boot > ?", .text(asker),
            .integer(now.wall), .integer(now.boot))
        let held = try Int(rows.first?.integer(0) ?? 0)
        return share.admits(held: held, used: used) ? nil : .challengeShareTaken
    }

    private func outstanding(
        _ connection: SQLiteConnection, at now: AuthorityInstant
    ) throws(TenonError) -> Int {
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
        return count ?? 0
    }
}

extension TenonError {
    static let challengesFull = TenonError(
        .storeFull, message: "As many challenges as may be are outstanding: try again soon.", retryAfter: .seconds(10))

    static let challengeShareTaken = TenonError(
        .storeFull, message: "Challenges are scarce, and this address has its share of them: try again soon.",
        retryAfter: .seconds(10))
}
