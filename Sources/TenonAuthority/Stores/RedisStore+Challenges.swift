// SPDX-License-Identifier: Apache-2.0
package import Tenon

extension RedisStore: ChallengeStore {
    // A script that has written may go on when the memory is full, so that what needs memory is written first.

    /// KEYS: the time, the entry, the deadlines of all, those of its asker. ARGV: the time or nothing, the entry's name,
    /// how many milliseconds it lives, limit, entry, the asker's share or nothing.
    private static let putScript = RedisScript(
        text: clockScript + """
            local used = redis.call('ZCOUNT', KEYS[3], '(' .. now, '+inf')
            local share = tonumber(ARGV[6])
            if used >= tonumber(ARGV[4]) then return 0 end
            if share and used * 2 >= tonumber(ARGV[4])
                and redis.call('ZCOUNT', KEYS[4], '(' .. now, '+inf') >= share then return 2 end
            local deadline = now + tonumber(ARGV[3])
            redis.call('SET', KEYS[2], ARGV[5], 'PX', math.max(1, deadline - time))
            redis.call('ZADD', KEYS[3], deadline, ARGV[2])
            redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
            if share then
                redis.call('ZADD', KEYS[4], deadline, ARGV[2])
                redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', now)
                redis.call('PEXPIRE', KEYS[4], math.max(1, deadline - time))
            end
            return 1
            """)

    /// KEYS: the same but the last. ARGV: the time or nothing, the entry's name, what the key of an asker begins with.
    private static let takeScript = RedisScript(
        text: clockScript + """
            local deadline = redis.call('ZSCORE', KEYS[3], ARGV[2])
            redis.call('ZREM', KEYS[3], ARGV[2])
            local entry = redis.call('GETDEL', KEYS[2])
            local asker = entry and string.match(entry, '"asker":"([^"]+)"')
            if asker then redis.call('ZREM', ARGV[3] .. asker, ARGV[2]) end
            return deadline and tonumber(deadline) > now and entry
            """)

    package func put(_ entry: ChallengeEntry, under key: Digest) async throws(TenonError) {
        let name = RedisStore.name(entry.purpose, key)
        let values = ["\(entry.deadline.wall - clock.now().wall)", "\(options.maxChallenges)"].map { Array($0.utf8) }
        let share = AddressShare.challenges(options.maxChallenges, each: options.challengesPerAddress).share
        let command = RedisStore.putScript.command(
            keys(of: name) + [self.key("asker:", Array(entry.asker.utf8))],
            [time, name] + values + [try entry.encoded(), Array((entry.asker.isEmpty ? "" : "\(share)").utf8)])
        switch try await run({ _ in command }).integer {
        case 1: return
        case 2: throw .challengeShareTaken
        default: throw .challengesFull
        }
    }

    package func take(
        _ purpose: ChallengeEntry.Purpose, under key: Digest
    ) async throws(TenonError) -> ChallengeEntry? {
        let name = RedisStore.name(purpose, key)
        let command = RedisStore.takeScript.command(keys(of: name), [time, name, self.key("asker:")])
        guard let encoded = try await run({ _ in command }).bytes else { return nil }
        return try ChallengeEntry(encoded: encoded)
    }

    private func keys(of name: [UInt8]) -> [[UInt8]] { [key("time"), key("challenge:", name), key("challenges")] }

    private static func name(_ purpose: ChallengeEntry.Purpose, _ key: Digest) -> [UInt8] {
        Array("\(purpose.rawValue):".utf8) + key.rawRepresentation
    }
}
