// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
package import Tenon

/// Challenges, replay entries and answers in Redis, for any number of instances. These entries expire soon and may be
/// lost, because a loss is noticed (decision: forgetful-stores). One thread sends all waiting commands at once.
package final class RedisStore: WatchedStore {
    package enum Address: Equatable, Sendable {
        case unix(path: String)
        /// An address of loopback.
        case tcp(address: String, port: Int)
    }

    package struct Options: Sendable {
        package var address: Address
        /// The user in Redis's access list; nil is the default user.
        package var user: String?
        package var password: String?
        /// The prefix of all keys, which tells authorities that share a server apart.
        package var prefix: String
        /// Challenges and pending secrets that may be outstanding at a time, over all instances.
        package var maxChallenges: Int
        /// The share of one asker while they are scarce; nil is the usual share.
        package var challengesPerAddress: Int?
        /// Requests of version 1 of one device that are remembered.
        package var requestsPerDevice: Int
        /// The same for version 2: the most batches and requests that are alone.
        package var rootsPerDevice = 41_600
        /// For tests: the time that replaces Redis's own, in milliseconds since 1970.
        package var serverTime: (@Sendable () -> Int64)?

        package init(
            address: Address, prefix: String = "tenon:", maxChallenges: Int = 10_000, requestsPerDevice: Int = 10_000,
            serverTime: (@Sendable () -> Int64)? = nil
        ) {
            self.address = address
            self.prefix = prefix
            self.maxChallenges = maxChallenges
            self.requestsPerDevice = requestsPerDevice
            self.serverTime = serverTime
        }

        func key(_ kind: String, _ name: [UInt8] = []) -> [UInt8] { Array("\(prefix)\(kind)".utf8) + name }

        /// The first value of each script.
        var time: [UInt8] { serverTime.map { Array("\($0())".utf8) } ?? [] }
    }

    package let clock: SteadyClock
    let options: Options
    let horizon: any ReplayHorizon
    let memory = Mutex(RedisReplayMemory())
    /// Lets callers store horizons one after the other.
    let lock = AsyncLock()
    private let thread: BatchThread<RedisJob>
    /// The connection of ``look()``: neither it nor a request waits for the other.
    private let lookThread: BatchThread<RedisJob>

    /// Connects. Blocks on the network.
    ///
    /// - Parameter horizon: the store of the timestamps of requests that may have been accepted.
    /// - Throws: ``TenonError/Code/configuration`` for an address that is not this machine's or a server that evicts
    ///   entries; ``TenonError/Code/storeFailed`` and the like.
    package init(
        options: Options, clock source: any AuthorityClock = SystemClock(), horizon: any ReplayHorizon
    ) throws(TenonError) {
        self.options = options
        self.horizon = horizon
        clock = SteadyClock(source)
        let target = try RedisTarget(options)
        let connection = RedisConnection(target)
        try connection.connect()
        thread = try RedisStore.thread(connection)
        lookThread = try RedisStore.thread(RedisConnection(target, mayEvict: true))
    }

    private static func thread(_ connection: sending RedisConnection) throws(TenonError) -> BatchThread<RedisJob> {
        let owner = RedisOwner(connection)
        return try BatchThread { jobs in
            RedisStore.perform(jobs, owner.connection)
        } finish: {
            owner.close()
        }
    }

    /// Finishes the commands that were asked for and closes the connections. Later calls throw
    /// ``TenonError/Code/storeClosed``.
    package func close() async {
        await thread.end()
        await lookThread.end()
    }

    // MARK: What health asks

    package let watchedName = "redis"

    /// The milliseconds by which Redis's clock is behind the latest time that it has shown.
    package var stepBack: Int64 { seenStepBack.load(ordering: .relaxed) }

    private let seenStepBack = Atomic<Int64>(0)

    /// Writes an entry that needs memory, reads Redis's clock, and asks whether it has begun to evict entries. If so,
    /// Redis is not believed, nor are the entries that it still has when it stops.
    package func look() async throws(TenonError) -> Int64? {
        let facts = RedisConnection.facts(
            try await run(on: lookThread) { _ in ["INFO", "memory"].map { Array($0.utf8) } })
        guard facts["maxmemory_policy"] == "noeviction" else {
            memory.withLock { $0.mayEvict = true }
            throw .redisEvicts
        }
        if memory.withLock({ $0.mayEvict }) {
            let forget = [Array("DEL".utf8), key("life")]
            _ = try await run(on: lookThread) { _ in forget }
            memory.withLock { $0.mayEvict = false }
        }
        let (keys, time) = ([key("time"), key("life"), key("look")], options.time)
        let reply = try await run(on: lookThread) { runID in
            // The instance's clock is left out, because Redis must answer even if the clocks differ.
            RedisStore.lookScript.command(keys, [Array(runID.utf8), time, [], []])
        }
        guard let list = reply.list, list.count == 3, let epoch = list[0].bytes, let read = list[1].integer,
            let now = list[2].integer
        else { throw .damaged("a time") }
        seenStepBack.store(now - read, ordering: .relaxed)
        try await learn(String(decoding: epoch, as: UTF8.self))
        return read
    }

    private static let lookScript = RedisScript(
        text: clockScript + "redis.call('SET', KEYS[3], now, 'PX', 60000) return {epoch, time, now}")

    /// The beginning of every script.
    ///
    /// KEYS: the time, the epoch. ARGV: the server's life; the time or nothing; the lowest and the highest time, in
    /// milliseconds, that the instance's clocks say, or nothing.
    ///
    /// It sets `time`, Redis's time in milliseconds, which is stepped with its machine's clock; `now`, which stands
    /// still when that clock is stepped back a little; and `epoch`. A new epoch begins when Redis has lost entries or
    /// may have: when the server restarts, when it evicted entries, and when its clock, by which entries expire, was
    /// stepped far. The last word of an epoch's name distinguishes two of the same moment.
    static let clockScript = """
        local read = redis.call('TIME')
        local time = tonumber(ARGV[2]) or read[1] * 1000 + math.floor(read[2] / 1000)
        local seen = tonumber(redis.call('GET', KEYS[1]) or time)
        local gone = string.match(redis.call('INFO', 'stats'), 'evicted_keys:(%d+)')
        local epoch = redis.call('GET', KEYS[2])
        local life, thrown
        if epoch then life, thrown = string.match(epoch, '^(%w+) %d+ (%d+) %d+$') end
        if life ~= ARGV[1] or thrown ~= gone or math.abs(time - seen) > \(SteadyClock.maxStep) then
            epoch = ARGV[1] .. ' ' .. string.format('%.0f', time) .. ' ' .. gone .. ' ' .. read[1]
                .. string.format('%06d', read[2])
            redis.call('SET', KEYS[2], epoch)
            redis.pcall('SET', KEYS[1], time)
            seen = time
        end
        local now = math.max(time, seen)
        if now > seen then redis.pcall('SET', KEYS[1], now) end
        local lowest, highest = tonumber(ARGV[3]), tonumber(ARGV[4])
        if lowest then
            local ahead = time - lowest > highest - time and lowest - time or highest - time
            if math.abs(ahead) > \(StoreHealth.maxClockDifference) then
                return redis.error_reply('CLOCK ' .. string.format('%.0f', ahead))
            end
        end
        local seconds = math.floor(now / 1000)

        """

    /// The first values of each script.
    func clockValues(_ runID: String) -> [[UInt8]] {
        let (said, believed) = (clock.sourceNow.wall, clock.now().wall)
        return [
            Array(runID.utf8), options.time, Array("\(min(said, believed))".utf8), Array("\(max(said, believed))".utf8),
        ]
    }

    func key(_ kind: String, _ name: [UInt8] = []) -> [UInt8] { options.key(kind, name) }

    /// - Parameter command: makes the command, once it is known in which run of the server it will run.
    func run(_ command: @escaping @Sendable (_ runID: String) -> RedisCommand) async throws(TenonError) -> RedisReply {
        try await run(on: thread, command)
    }

    private func run(
        on thread: BatchThread<RedisJob>, _ command: @escaping @Sendable (_ runID: String) -> RedisCommand
    ) async throws(TenonError) -> RedisReply {
        let result: Result<RedisReply, TenonError> = await withCheckedContinuation { continuation in
            let job = RedisJob(command: command) { continuation.resume(returning: $0) }
            if !thread.add(job) { job.finish(.failure(.closed)) }
        }
        return try result.get()
    }

    private static func perform(_ jobs: [RedisJob], _ connection: RedisConnection?) {
        guard let connection else { return }
        do throws(TenonError) {
            try connection.connect()
            let replies = try connection.replies(to: jobs.map { $0.command(connection.runID) })
            for (job, reply) in zip(jobs, replies) { job.finish(reply) }
        } catch {
            // The caller did nothing wrong.
            for job in jobs { job.finish(.failure(error.code == .configuration ? .redisEvicts : error)) }
        }
    }
}

private struct RedisJob: Sendable {
    let command: @Sendable (_ runID: String) -> RedisCommand
    let finish: @Sendable (Result<RedisReply, TenonError>) -> Void
}

/// Carries the connection to its thread, which is the only one to touch it from then on.
private final class RedisOwner: Sendable {
    nonisolated(unsafe) private(set) var connection: RedisConnection?

    init(_ connection: sending RedisConnection) { self.connection = connection }

    func close() { connection = nil }
}

/// A script, which Redis runs as one step, with its keys and values.
struct RedisScript {
    let text: String

    func command(_ keys: [[UInt8]], _ values: [[UInt8]]) -> RedisCommand {
        [Array("EVAL".utf8), Array(text.utf8), Array("\(keys.count)".utf8)] + keys + values
    }
}
