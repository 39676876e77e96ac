// SPDX-License-Identifier: Apache-2.0
package import Tenon

extension RedisStore: ChallengeStore {
    // A script that has written may continue when the memory is full, so each script first writes whatever needs
    // memory.

    /// KEYS: the time, the epoch, the entry, all deadlines, the asker's deadlines. ARGV: those of ``clockScript``; the
    /// entry's name, its lifetime in milliseconds, the limit, the entry, the asker's share or nothing.
    private static let putScript = RedisScript(
        text: clockScript + """
            local used = redis.call('ZCOUNT', KEYS[4], '(' .. now, '+inf')
            local share = tonumber(ARGV[9])
            if used >= tonumber(ARGV[7]) then return 0 end
            if share and used * 2 >= tonumber(ARGV[7])
                and redis.call('ZCOUNT', KEYS[5], '(' .. now, '+inf') >= share then return 2 end
            local deadline = now + tonumber(ARGV[6])
            redis.call('SET', KEYS[3], ARGV[8], 'PX', math.max(1, deadline - time))
            redis.call('ZADD', KEYS[4], deadline, ARGV[5])
            redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', now)
            if share then
                redis.call('ZADD', KEYS[5], deadline, ARGV[5])
                redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', now)
                redis.call('PEXPIRE', KEYS[5], math.max(1, deadline - time))
            end
            return 1
            """)

    /// KEYS: the same without the last. ARGV: those of ``clockScript``; the entry's name, the prefix of an asker's key.
    private static let takeScript = RedisScript(
        text: clockScript + """
            local deadline = redis.call('ZSCORE', KEYS[4], ARGV[5])
            redis.call('ZREM', KEYS[4], ARGV[5])
            local entry = redis.call('GETDEL', KEYS[3])
            local asker = entry and string.match(entry, '"asker":"([^"]+)"')
            if asker then redis.call('ZREM', ARGV[6] .. asker, ARGV[5]) end
            return deadline and tonumber(deadline) > now and entry
            """)

    package func put(_ entry: ChallengeEntry, under digest: Digest) async throws(TenonError) {
        let name = RedisStore.name(entry.purpose, digest)
        let values = ["\(entry.deadline.wall - clock.now().wall)", "\(options.maxChallenges)"].map { Array($0.utf8) }
        let share = AddressShare.challenges(options.maxChallenges, each: options.challengesPerAddress).share
        let keys = keys(of: name) + [key("asker:", Array(entry.asker.utf8))]
        let arguments =
            [name] + values + [try entry.encoded(), Array((entry.asker.isEmpty ? "" : "\(share)").utf8)]
        let reply = try await run { [self] runID in
            RedisStore.putScript.command(keys, clockValues(runID) + arguments)
        }
        switch reply.integer {
        case 1: return
        case 2: throw .challengeShareTaken
        default: throw .challengesFull
        }
    }

    package func take(
        _ purpose: ChallengeEntry.Purpose, under digest: Digest
    ) async throws(TenonError) -> ChallengeEntry? {
        let name = RedisStore.name(purpose, digest)
        let keys = keys(of: name)
        let reply = try await run { [self] runID in
            RedisStore.takeScript.command(keys, clockValues(runID) + [name, key("asker:")])
        }
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

extension RedisStore: AnswerStore {
    package func answer(
        backend: String, requestID: String, request: Digest
    ) async throws(TenonError) -> StoredAnswer {
        let key = try answerKey(backend, requestID)
        guard let kept = try await run({ _ in [Array("GET".utf8), key] }).bytes else { return .none }
        return RedisStore.answer(kept, to: request)
    }

    private static func answer(_ kept: [UInt8], to request: Digest) -> StoredAnswer {
        let mark = request.rawRepresentation
        return kept.starts(with: mark) ? .answer(Array(kept.dropFirst(mark.count))) : .anotherRequest
    }

    /// KEYS: the answer, the mark of the caller that has begun. ARGV: the lifetime of the mark.
    private static let beginScript = RedisScript(
        text: """
            local kept = redis.call('GET', KEYS[1])
            if kept then return kept end
            return redis.call('SET', KEYS[2], '', 'NX', 'PX', ARGV[1]) and 1 or 0
            """)

    package func begin(
        backend: String, requestID: String, request: Digest
    ) async throws(TenonError) -> StoredAnswer {
        let keys = [try answerKey(backend, requestID), try answerKey(backend, requestID, "answering:")]
        let command = RedisStore.beginScript.command(keys, [Array("\(AnswerTerms.underWay)".utf8)])
        do throws(TenonError) {
            let reply = try await run { _ in command }
            if let kept = reply.bytes { return RedisStore.answer(kept, to: request) }
            return reply.integer == 1 ? .none : .underWay
        } catch {
            // If there is no room for the mark, two simultaneous callers count as a request and its replay.
            guard error.code == .storeFull else { throw error }
            return try await answer(backend: backend, requestID: requestID, request: request)
        }
    }

    package func abandon(backend: String, requestID: String) async throws(TenonError) {
        let key = try answerKey(backend, requestID, "answering:")
        _ = try await run { _ in [Array("DEL".utf8), key] }
    }

    /// KEYS: as above. ARGV: the answer, its lifetime.
    private static let keepScript = RedisScript(
        text: """
            redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
            return redis.call('DEL', KEYS[2])
            """)

    package func keep(
        _ answer: [UInt8], backend: String, requestID: String, request: Digest
    ) async throws(TenonError) {
        let keys = [try answerKey(backend, requestID), try answerKey(backend, requestID, "answering:")]
        let command = RedisStore.keepScript.command(
            keys, [request.rawRepresentation + answer, Array("\(MemoryAnswerStore.retention)".utf8)])
        do throws(TenonError) {
            _ = try await run { _ in command }
        } catch {
            guard error.code == .storeFull else { throw error }
            try await abandon(backend: backend, requestID: requestID)
        }
    }

    /// The length of the first name keeps the two names apart.
    private func answerKey(
        _ backend: String, _ requestID: String, _ kind: String = "answer:"
    ) throws(TenonError) -> [UInt8] {
        let names = "\(backend.utf8.count):\(backend)\(requestID)"
        return key(kind, try Digest(hashing: Array(names.utf8)).rawRepresentation)
    }
}
