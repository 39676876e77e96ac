// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
package import Tenon

/// What an instance knows of the epoch, and of devices whose clocks are ahead.
struct RedisReplayMemory {
    /// As it stands there; empty before it was read.
    var epoch = ""
    /// How often the epoch has changed: entries may have been lost.
    var losses = 0
    /// Up to where requests of a device may have been accepted before the epoch.
    var forgotten: [String: Int64] = [:]
    /// Up to where this instance has stored that they may.
    var stored: [String: Int64] = [:]

    /// Which are gone by themselves after 300 s, and cost a write when they are gone too early.
    static let maxStored = 100_000
}

extension RedisStore: ReplayStore {
    /// KEYS: the epoch. ARGV: the server's life, the epoch that it would begin.
    static let epochScript = RedisScript(
        text: """
            local epoch = redis.call('GET', KEYS[1])
            local life, at
            if epoch then life, at = string.match(epoch, '^(%w+) (%-?%d+)$') end
            if life ~= ARGV[1] then
                at = ARGV[2]
                epoch = ARGV[1] .. ' ' .. at
                redis.call('SET', KEYS[1], epoch)
            end

            """)

    /// KEYS: the epoch, the device's nonces, the r. ARGV: as above, the timestamp, now, until when it is remembered,
    /// for how long, the nonce, the limit.
    private static let script = RedisScript(
        text: epochScript.text + """
            if tonumber(ARGV[3]) <= tonumber(at) then return {'forgotten', epoch} end
            local known = redis.call('ZSCORE', KEYS[2], ARGV[7])
            if known and tonumber(known) > tonumber(ARGV[4]) or redis.call('EXISTS', KEYS[3]) == 1 then
                return {'replay', epoch}
            end
            if redis.call('ZCOUNT', KEYS[2], '(' .. ARGV[4], '+inf') >= tonumber(ARGV[8]) then return {'many', epoch} end
            redis.call('SET', KEYS[3], '', 'PX', ARGV[6])
            redis.call('ZADD', KEYS[2], ARGV[5], ARGV[7])
            redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ARGV[4])
            redis.call('PEXPIRE', KEYS[2], ARGV[6])
            return {'fresh', epoch}
            """)

    /// How far a new epoch reaches ahead of its first request: the clocks of instances may be so far apart. What is
    /// dated later than that has a horizon of its own.
    private static let lead: Int64 = 2

    /// How often the store may have forgotten something since this instance began: an alarm.
    package var losses: Int { memory.withLock { $0.losses } }

    package func remember(_ use: SignedUse) async throws(TenonError) -> SignedUse.Outcome {
        guard let nonce = UUIDBytes(use.nonce) else {
            throw TenonError(.nonce, message: "The nonce is no UUID.")
        }
        try await raiseHorizon(for: use)
        let reply = try await run(command(for: use, nonce)).list ?? []
        let words = reply.compactMap { $0.bytes.map { String(decoding: $0, as: UTF8.self) } }
        guard words.count == 2 else { throw .damaged("an epoch") }
        try await learn(words[1])
        if use.timestamp <= memory.withLock({ $0.forgotten[use.deviceID, default: .min] }) { return .mayBeForgotten }
        switch words[0] {
        case "fresh": return .fresh
        case "replay": return .replay
        case "many": return .tooMany
        default: return .mayBeForgotten
        }
    }

    static func epoch(_ runID: String, at now: AuthorityInstant) -> [[UInt8]] {
        [Array(runID.utf8), Array("\(now.seconds + lead)".utf8)]
    }

    private func command(for use: SignedUse, _ nonce: UUIDBytes) -> @Sendable (String) -> RedisCommand {
        let now = clock.now()
        let keys = [
            key("epoch"), key("nonces:", Array(use.deviceID.utf8)),
            key("r:", Array("\(use.thumbprint):".utf8) + use.signature.rawRepresentation.prefix(32)),
        ]
        let values = [
            "\(use.timestamp)", "\(now.wall)",
            "\(now.wall + MemoryReplayStore.retention)", "\(MemoryReplayStore.retention)",
        ].map { Array($0.utf8) }
        let last = [nonce.bytes, Array("\(options.requestsPerDevice)".utf8)]
        return { runID in RedisStore.script.command(keys, RedisStore.epoch(runID, at: now) + values + last) }
    }

    /// Stores how far ahead a device is before its request is accepted.
    private func raiseHorizon(for use: SignedUse) async throws(TenonError) {
        guard use.timestamp > clock.now().seconds + RedisStore.lead,
            memory.withLock({ $0.stored[use.deviceID, default: .min] < use.timestamp })
        else { return }
        try await horizon.raise(device: use.deviceID, to: use.timestamp)
        memory.withLock { memory in
            if memory.stored.count >= RedisReplayMemory.maxStored { memory.stored = [:] }
            memory.stored[use.deviceID] = max(memory.stored[use.deviceID, default: .min], use.timestamp)
        }
    }

    /// With a new epoch come the horizons that were stored before it.
    private func learn(_ epoch: String) async throws(TenonError) {
        guard memory.withLock({ $0.epoch }) != epoch else { return }
        guard let seconds = epoch.split(separator: " ").last.flatMap({ Int64($0) }) else { throw .damaged("an epoch") }
        let horizons = try await horizon.horizons(after: seconds)
        memory.withLock { memory in
            if !memory.epoch.isEmpty && memory.epoch != epoch { memory.losses += 1 }
            memory.epoch = epoch
            memory.forgotten = horizons?.devices ?? [:]
        }
    }
}
