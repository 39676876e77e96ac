// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
package import Tenon

/// An instance's knowledge of the epoch: a time in which Redis has forgotten nothing and no clock was stepped.
struct RedisReplayMemory {
    /// Its name in Redis; empty until it was read.
    var epoch = ""
    /// When it began, in Unix seconds.
    var began: Int64 = 0
    /// How often the epoch has changed: entries may have been lost.
    var losses = 0
    /// Whether the server may have begun to evict entries.
    var mayEvict = false
    /// The spans in which other epochs may have accepted requests.
    var forgotten = ReplayHorizons()
    /// The timestamps up to which this instance has stored that requests may be accepted in this epoch: for all
    /// devices, and for those whose clocks are ahead.
    var storedForAll: Int64 = .min
    var stored: [String: Int64] = [:]

    /// The entries are useless after 300 s. Dropping one too early only costs a write.
    static let maxStored = 100_000

    func reach(of device: String) -> Int64 { max(storedForAll, stored[device, default: .min]) }

    mutating func learn(_ epoch: String, began: Int64, _ horizons: ReplayHorizons?) {
        if !self.epoch.isEmpty && self.epoch != epoch { losses += 1 }
        (self.epoch, self.began, forgotten) = (epoch, began, horizons ?? ReplayHorizons())
        (storedForAll, stored) = (.min, [:])
    }

    /// - Parameter epoch: the one in which it was stored; if the present epoch differs, a new one has begun since.
    mutating func stored(_ timestamp: Int64, of device: String?, in epoch: String) {
        guard epoch == self.epoch else { return }
        guard let device else {
            storedForAll = max(storedForAll, timestamp)
            return
        }
        if stored.count >= RedisReplayMemory.maxStored { stored = [:] }
        stored[device] = max(stored[device, default: .min], timestamp)
    }
}

// Redis's time decides; an instance whose own time differs from it does not take part. A request is accepted once the
// database has recorded that requests of its time may be: after a loss, an instance reads there which requests may be
// replays.
extension RedisStore: ReplayStore {
    /// ARGV: those of ``clockScript``; the epoch that the instance knows, the timestamp, the time up to which a horizon
    /// is stored.
    private static let beginning =
        clockScript + """
            if epoch ~= ARGV[5] then return {'epoch', epoch, seconds} end
            local timestamp = tonumber(ARGV[6])
            if math.abs(timestamp - seconds) > \(window) then return {'skew', epoch, seconds} end
            if timestamp > tonumber(ARGV[7]) then return {'ahead', epoch, seconds} end

            """

    /// Version 1. KEYS: the time, the epoch, the device's nonces, the r. ARGV: those of ``beginning``; the nonce, the
    /// limit.
    private static let script = RedisScript(
        text: beginning + """
            local known, mark = redis.call('ZSCORE', KEYS[3], ARGV[8]), redis.call('GET', KEYS[4])
            if known and tonumber(known) > now or mark and tonumber(mark) > now then
                return {'replay', epoch, seconds}
            end
            if redis.call('ZCOUNT', KEYS[3], '(' .. now, '+inf') >= tonumber(ARGV[9]) then
                return {'many', epoch, seconds}
            end
            local deadline = now + \(MemoryReplayStore.retention)
            redis.call('SET', KEYS[4], deadline, 'PX', deadline - time)
            redis.call('ZADD', KEYS[3], deadline, ARGV[8])
            redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
            redis.call('PEXPIRE', KEYS[3], deadline - time)
            return {'fresh', epoch, seconds}
            """)

    /// Version 2. KEYS: the time, the epoch, the device's entries, the bits of the batch. ARGV: those of ``beginning``;
    /// the entry's name, which is a root or a nonce, the limit, the index or nothing. A bit that has outlived its time
    /// is still one of a request that was used.
    private static let script2 = RedisScript(
        text: beginning + """
            local known, index = redis.call('ZSCORE', KEYS[3], ARGV[8]), tonumber(ARGV[10])
            local isKnown = known and tonumber(known) > now
            if index and redis.call('GETBIT', KEYS[4], index) == 1 or not index and isKnown then
                return {'replay', epoch, seconds}
            end
            if not isKnown and redis.call('ZCOUNT', KEYS[3], '(' .. now, '+inf') >= tonumber(ARGV[9]) then
                return {'many', epoch, seconds}
            end
            local deadline = now + \(MemoryReplayStore.retention)
            if index then
                redis.call('SETBIT', KEYS[4], index, 1)
                redis.call('PEXPIRE', KEYS[4], deadline - time)
            end
            redis.call('ZADD', KEYS[3], deadline, ARGV[8])
            redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
            redis.call('PEXPIRE', KEYS[3], deadline - time)
            return {'fresh', epoch, seconds}
            """)

    /// The service judges by its own clock, which may be a few seconds from Redis's; entries live longer than this.
    private static let window = MemoryReplayStore.window + 10
    /// How many losses and horizons one request may meet.
    private static let rounds = 5

    /// How often the store may have forgotten something since this instance began: an alarm.
    package var losses: Int { memory.withLock { $0.losses } }

    package func remember(_ use: SignedUse) async throws(TenonError) -> SignedUse.Outcome {
        let question = try question(use)
        for _ in 0..<RedisStore.rounds {
            let (mayEvict, mayBeForgotten, epoch, reach) = memory.withLock {
                ($0.mayEvict, $0.forgotten.mayHold(use), $0.epoch, $0.reach(of: use.deviceID))
            }
            if mayEvict { throw .redisEvicts }
            // A server that may evict remembers nothing for sure, so the device must sign again.
            let (word, present, seconds) = try await ask(
                question, use, in: epoch, reach: mayBeForgotten ? .min : reach)
            if word == "epoch" {
                try await learn(present)
                continue
            }
            if mayBeForgotten { return .mayBeForgotten }
            switch word {
            case "ahead": try await raiseHorizon(for: use, in: epoch, at: seconds)
            case "fresh": return .fresh
            case "replay": return .replay
            case "many": return .tooMany
            default: return .mayBeForgotten
            }
        }
        throw TenonError(
            .storeBusy, message: "Redis loses its data again and again. Check its log.", retryAfter: .seconds(1))
    }

    /// A script, with the keys and values that depend on the kind of the use.
    private struct Question {
        let script: RedisScript
        let keys: [[UInt8]]
        let values: [[UInt8]]
    }

    private func question(_ use: SignedUse) throws(TenonError) -> Question {
        let device = Array(use.deviceID.utf8)
        switch use.mark {
        case .signature(let text, let thumbprint, let signature):
            let r = Array("\(thumbprint):".utf8) + signature.rawRepresentation.prefix(32)
            return Question(
                script: RedisStore.script, keys: [key("nonces:", device), key("r:", r)],
                values: [try UUIDBytes(checking: text).bytes, Array("\(options.requestsPerDevice)".utf8)])
        case .nonce(let text):
            return Question(
                script: RedisStore.script2, keys: [key("roots:", device), key("bits:")],
                values: [try UUIDBytes(checking: text).bytes, Array("\(options.rootsPerDevice)".utf8), []])
        case .member(let thumbprint, let root, _, let index):
            let name = thumbprint.rawRepresentation + root.rawRepresentation
            return Question(
                script: RedisStore.script2, keys: [key("roots:", device), key("bits:", name)],
                values: [root.rawRepresentation, Array("\(options.rootsPerDevice)".utf8), Array("\(index)".utf8)])
        }
    }

    private func ask(
        _ question: Question, _ use: SignedUse, in epoch: String, reach: Int64
    ) async throws(TenonError) -> (word: String, epoch: String, seconds: Int64) {
        let keys = [key("time"), key("life")] + question.keys
        let values = [Array(epoch.utf8), Array("\(use.timestamp)".utf8), Array("\(reach)".utf8)] + question.values
        let reply = try await run { [self] runID in question.script.command(keys, clockValues(runID) + values) }
        guard let list = reply.list, list.count == 3, let word = list[0].bytes, let present = list[1].bytes,
            let seconds = list[2].integer
        else { throw .damaged("an epoch") }
        return (String(decoding: word, as: UTF8.self), String(decoding: present, as: UTF8.self), seconds)
    }

    /// Stores that requests like this one may be accepted, before this one is. Redis remembers it in this epoch, but
    /// perhaps not in a later one.
    private func raiseHorizon(
        for use: SignedUse, in epoch: String, at seconds: Int64
    ) async throws(TenonError) {
        let reach = seconds + SignedUse.lead
        let from = memory.withLock { $0.began } - RedisStore.window
        if use.timestamp > reach {
            try await horizon.raise(
                device: use.deviceID, to: ReplaySpan(from: from, to: use.timestamp), epoch: epoch)
            memory.withLock { $0.stored(use.timestamp, of: use.deviceID, in: epoch) }
        } else {
            try await lock.run { () async throws(TenonError) in
                // A caller that waited for another's write need not repeat it.
                if memory.withLock({ $0.epoch == epoch && $0.storedForAll >= use.timestamp }) { return }
                try await horizon.raise(device: nil, to: ReplaySpan(from: from, to: reach), epoch: epoch)
                memory.withLock { $0.stored(reach, of: nil, in: epoch) }
            }
        }
    }

    /// A new epoch brings the horizons that earlier epochs stored.
    func learn(_ epoch: String) async throws(TenonError) {
        if memory.withLock({ $0.epoch == epoch }) { return }
        let words = epoch.split(separator: " ")
        guard words.count == 4, let began = Int64(words[1]) else { throw .damaged("an epoch") }
        let horizons = try await horizon.horizons(besides: epoch)
        memory.withLock { $0.learn(epoch, began: began / 1000, horizons) }
    }
}
