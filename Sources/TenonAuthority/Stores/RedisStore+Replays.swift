// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
package import Tenon

/// What an instance knows of the epoch, and of devices whose clocks are ahead.
struct RedisReplayMemory {
    /// As it stands there; empty before it was read.
    var epoch = ""
    /// The latest time of Redis that was seen, in Unix seconds.
    var latest: Int64 = 0
    /// How often the epoch has changed: entries may have been lost.
    var losses = 0
    /// Whether the server has begun to throw entries away.
    var mayEvict = false
    /// Up to where requests of a device may have been accepted before the epoch.
    var forgotten: [String: Int64] = [:]
    /// Up to where this instance has stored that they may.
    var stored: [String: Int64] = [:]

    /// Which are gone by themselves after 300 s, and cost a write when they are gone too early.
    static let maxStored = 100_000

    /// Where the epoch of a life of the server has to begin at least: behind what was accepted in one before it, also
    /// when its clock was set back between the two.
    func floor(inLife runID: String) -> Int64 {
        epoch.isEmpty || epoch.hasPrefix(runID + " ") ? 0 : latest + RedisStore.lead
    }
}

// Redis's time decides, and no instance's: theirs differ, and one that is set back would take for fresh what Redis has
// let go.
extension RedisStore: ReplayStore {
    /// KEYS: the time, the epoch. ARGV: the time or nothing, the server's life, where an epoch of it begins at least.
    static let epochScript = RedisScript(
        text: clockScript + """
            local epoch = redis.call('GET', KEYS[2])
            local life, at
            if epoch then life, at = string.match(epoch, '^(%w+) (%-?%d+)$') end
            if life ~= ARGV[2] or tonumber(at) < tonumber(ARGV[3]) then
                at = string.format('%.0f', math.max(seconds + \(lead), tonumber(ARGV[3])))
                epoch = ARGV[2] .. ' ' .. at
                redis.call('SET', KEYS[2], epoch)
            end

            """)

    /// KEYS: the time, the epoch, the device's nonces, the r. ARGV: as above, the timestamp, the device's horizon, the
    /// nonce, the limit.
    private static let script = RedisScript(
        text: epochScript.text + """
            local timestamp = tonumber(ARGV[4])
            if timestamp <= tonumber(at) or math.abs(timestamp - seconds) > \(window) then
                return {'forgotten', epoch, seconds}
            end
            if timestamp > seconds + \(lead) and timestamp > tonumber(ARGV[5]) then
                return {'ahead', epoch, seconds}
            end
            local known, mark = redis.call('ZSCORE', KEYS[3], ARGV[6]), redis.call('GET', KEYS[4])
            if known and tonumber(known) > now or mark and tonumber(mark) > now then
                return {'replay', epoch, seconds}
            end
            if redis.call('ZCOUNT', KEYS[3], '(' .. now, '+inf') >= tonumber(ARGV[7]) then
                return {'many', epoch, seconds}
            end
            local deadline = now + \(MemoryReplayStore.retention)
            redis.call('SET', KEYS[4], deadline, 'PX', deadline - time)
            redis.call('ZADD', KEYS[3], deadline, ARGV[6])
            redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
            redis.call('PEXPIRE', KEYS[3], deadline - time)
            return {'fresh', epoch, seconds}
            """)

    /// How far a new epoch reaches ahead of its first request, in seconds. What is dated later than that has a horizon
    /// of its own.
    static let lead: Int64 = 2
    /// The service judges by its own clock, which may be a few seconds from Redis's; entries live longer than this.
    private static let window = MemoryReplayStore.window + 10

    /// How often the store may have forgotten something since this instance began: an alarm.
    package var losses: Int { memory.withLock { $0.losses } }

    package func remember(_ use: SignedUse) async throws(TenonError) -> SignedUse.Outcome {
        guard let nonce = UUIDBytes(use.nonce) else {
            throw TenonError(.nonce, message: "The nonce is no UUID.")
        }
        let (mayEvict, stored) = memory.withLock { ($0.mayEvict, $0.stored[use.deviceID, default: 0]) }
        if mayEvict { throw .redisEvicts }
        var word = try await ask(use, nonce, horizon: stored)
        if word == "ahead" && !isForgotten(use) {
            try await raiseHorizon(for: use)
            word = try await ask(use, nonce, horizon: use.timestamp)
        }
        if isForgotten(use) { return .mayBeForgotten }
        switch word {
        case "fresh": return .fresh
        case "replay": return .replay
        case "many": return .tooMany
        default: return .mayBeForgotten
        }
    }

    private func isForgotten(_ use: SignedUse) -> Bool {
        memory.withLock { use.timestamp <= $0.forgotten[use.deviceID, default: .min] }
    }

    /// Begins an epoch now and not with the first request, which would be refused.
    static func beginEpoch(_ runID: String, _ options: Options) -> RedisCommand {
        epochScript.command(
            [options.key("time"), options.key("epoch")], [options.time, Array(runID.utf8), [UInt8(ascii: "0")]])
    }

    private func ask(_ use: SignedUse, _ nonce: UUIDBytes, horizon: Int64) async throws(TenonError) -> String {
        let keys = [
            key("time"), key("epoch"), key("nonces:", Array(use.deviceID.utf8)),
            key("r:", Array("\(use.thumbprint):".utf8) + use.signature.rawRepresentation.prefix(32)),
        ]
        let values = [
            Array("\(use.timestamp)".utf8), Array("\(horizon)".utf8), nonce.bytes,
            Array("\(options.requestsPerDevice)".utf8),
        ]
        let reply = try await run { [self] runID in
            let floor = memory.withLock { $0.floor(inLife: runID) }
            return RedisStore.script.command(keys, [time, Array(runID.utf8), Array("\(floor)".utf8)] + values)
        }
        guard let list = reply.list, list.count == 3, let word = list[0].bytes, let epoch = list[1].bytes,
            let seconds = list[2].integer
        else { throw .damaged("an epoch") }
        try await learn(String(decoding: epoch, as: UTF8.self), at: seconds)
        return String(decoding: word, as: UTF8.self)
    }

    /// Stores how far ahead a device is before its request is accepted. In this epoch Redis knows of it; in one after
    /// it, it may not.
    private func raiseHorizon(for use: SignedUse) async throws(TenonError) {
        let epoch = memory.withLock { $0.epoch }
        try await horizon.raise(device: use.deviceID, to: use.timestamp, epoch: epoch)
        memory.withLock { memory in
            if memory.stored.count >= RedisReplayMemory.maxStored { memory.stored = [:] }
            memory.stored[use.deviceID] = max(memory.stored[use.deviceID, default: .min], use.timestamp)
        }
    }

    /// With a new epoch come the horizons that were stored before it.
    private func learn(_ epoch: String, at now: Int64) async throws(TenonError) {
        if memory.withLock({ $0.epoch == epoch }) {
            memory.withLock { $0.latest = max($0.latest, now) }
            return
        }
        guard let seconds = epoch.split(separator: " ").last.flatMap({ Int64($0) }) else { throw .damaged("an epoch") }
        let horizons = try await horizon.horizons(after: seconds, besides: epoch)
        memory.withLock { memory in
            if !memory.epoch.isEmpty && memory.epoch != epoch { memory.losses += 1 }
            memory.epoch = epoch
            memory.latest = max(memory.latest, now)
            memory.forgotten = horizons?.devices ?? [:]
        }
    }
}
