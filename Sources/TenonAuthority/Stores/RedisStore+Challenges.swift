// SPDX-License-Identifier: Apache-2.0
package import Tenon

extension RedisStore: ChallengeStore {
    // A script that has written may go on when the memory is full, so that what needs memory is written first.

    /// KEYS: the entry, the deadlines of all. ARGV: the entry's name, deadline, now, limit, entry.
    private static let putScript = RedisScript(
        text: """
            if redis.call('ZCOUNT', KEYS[2], '(' .. ARGV[3], '+inf') >= tonumber(ARGV[4]) then return 0 end
            redis.call('SET', KEYS[1], ARGV[5], 'PX', math.max(1, ARGV[2] - ARGV[3]))
            redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
            redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ARGV[3])
            return 1
            """)

    /// KEYS: the same. ARGV: the entry's name.
    private static let takeScript = RedisScript(
        text: """
            redis.call('ZREM', KEYS[2], ARGV[1])
            return redis.call('GETDEL', KEYS[1])
            """)

    package func put(_ entry: ChallengeEntry, under key: Digest) async throws(TenonError) {
        let name = RedisStore.name(entry.purpose, key)
        let values = ["\(entry.deadline.wall)", "\(clock.now().wall)", "\(options.maxChallenges)"].map {
            Array($0.utf8)
        }
        let command = RedisStore.putScript.command(
            [self.key("challenge:", name), self.key("challenges")], [name] + values + [try entry.encoded()])
        guard try await run({ _ in command }).integer == 1 else {
            throw TenonError(
                .storeFull, message: "As many challenges as may be are outstanding: try again soon.",
                retryAfter: .seconds(10))
        }
    }

    package func take(
        _ purpose: ChallengeEntry.Purpose, under key: Digest
    ) async throws(TenonError) -> ChallengeEntry? {
        let name = RedisStore.name(purpose, key)
        let command = RedisStore.takeScript.command([self.key("challenge:", name), self.key("challenges")], [name])
        guard let encoded = try await run({ _ in command }).bytes else { return nil }
        let entry = try ChallengeEntry(encoded: encoded)
        // The other clock of the deadline is that of the machine that gave the challenge.
        return clock.now().wall < entry.deadline.wall ? entry : nil
    }

    private static func name(_ purpose: ChallengeEntry.Purpose, _ key: Digest) -> [UInt8] {
        Array("\(purpose.rawValue):".utf8) + key.rawRepresentation
    }
}
