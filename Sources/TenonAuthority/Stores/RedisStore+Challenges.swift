// SPDX-License-Identifier: Apache-2.0
package import Tenon

extension RedisStore: ChallengeStore {
    // A script that has written may go on when the memory is full, so that what needs memory is written first.

    /// KEYS: the time, the epoch, the entry, the deadlines of all. ARGV: as ``clockScript`` has them; the entry's name,
    /// how many milliseconds it lives, limit, entry.
    private static let putScript = RedisScript(
        text: clockScript + """
            if redis.call('ZCOUNT', KEYS[4], '(' .. now, '+inf') >= tonumber(ARGV[7]) then return 0 end
            local deadline = now + tonumber(ARGV[6])
            redis.call('SET', KEYS[3], ARGV[8], 'PX', math.max(1, deadline - time))
            redis.call('ZADD', KEYS[4], deadline, ARGV[5])
            redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', now)
            return 1
            """)

    /// KEYS: the same. ARGV: as ``clockScript`` has them; the entry's name.
    private static let takeScript = RedisScript(
        text: clockScript + """
            local deadline = redis.call('ZSCORE', KEYS[4], ARGV[5])
            redis.call('ZREM', KEYS[4], ARGV[5])
            local entry = redis.call('GETDEL', KEYS[3])
            return deadline and tonumber(deadline) > now and entry
            """)

    package func put(_ entry: ChallengeEntry, under key: Digest) async throws(TenonError) {
        let name = RedisStore.name(entry.purpose, key)
        let values = ["\(entry.deadline.wall - clock.now().wall)", "\(options.maxChallenges)"].map { Array($0.utf8) }
        let (keys, arguments) = (keys(of: name), [name] + values + [try entry.encoded()])
        let reply = try await run { [self] runID in
            RedisStore.putScript.command(keys, clockValues(runID) + arguments)
        }
        guard reply.integer == 1 else {
            throw TenonError(
                .storeFull, message: "As many challenges as may be are outstanding: try again soon.",
                retryAfter: .seconds(10))
        }
    }

    package func take(
        _ purpose: ChallengeEntry.Purpose, under key: Digest
    ) async throws(TenonError) -> ChallengeEntry? {
        let name = RedisStore.name(purpose, key)
        let keys = keys(of: name)
        let reply = try await run { [self] runID in RedisStore.takeScript.command(keys, clockValues(runID) + [name]) }
        guard let encoded = reply.bytes else { return nil }
        return try ChallengeEntry(encoded: encoded)
    }

    private func keys(of name: [UInt8]) -> [[UInt8]] {
        [key("time"), key("life"), key("challenge:", name), key("challenges")]
    }

    private static func name(_ purpose: ChallengeEntry.Purpose, _ key: Digest) -> [UInt8] {
        Array("\(purpose.rawValue):".utf8) + key.rawRepresentation
    }
}
