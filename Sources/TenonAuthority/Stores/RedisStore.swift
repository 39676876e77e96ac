// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
package import Tenon

/// Challenges, replay entries and answers in Redis, for any number of instances: what expires soon, and may be lost
/// where its loss is noticed (security.md E4). One thread sends what is waiting in one go.
package final class RedisStore: Sendable {
    package enum Address: Equatable, Sendable {
        case unix(path: String)
        /// An address of loopback.
        case tcp(address: String, port: Int)
    }

    package struct Options: Sendable {
        package var address: Address
        /// Of Redis's access list; nil is its default user.
        package var user: String?
        package var password: String?
        /// What all keys begin with: authorities that share a server are told apart by it.
        package var prefix: String
        /// Challenges and pending secrets that may be outstanding at a time, over all instances.
        package var maxChallenges: Int
        /// Of one asker, while they are scarce; nil is the usual share.
        package var challengesPerAddress: Int?
        /// Requests of one device that are remembered.
        package var requestsPerDevice: Int
        /// For tests: what is taken for Redis's own time, in milliseconds since 1970.
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
    private let thread: BatchThread<RedisJob>

    /// Connects. Blocks on the network.
    ///
    /// - Parameter horizon: where the horizons of devices whose clocks are ahead are stored.
    /// - Throws: ``TenonError/Code/configuration`` for an address that is not this machine's or a server that throws
    ///   entries away; ``TenonError/Code/storeFailed`` and the like.
    package init(
        options: Options, clock source: any AuthorityClock = SystemClock(), horizon: any ReplayHorizon
    ) throws(TenonError) {
        self.options = options
        self.horizon = horizon
        clock = SteadyClock(source)
        let connection = RedisConnection(try RedisTarget(options))
        try connection.connect()
        for reply in try connection.replies(to: [RedisStore.beginEpoch(connection.runID, options)]) {
            _ = try reply.get()
        }
        let owner = RedisOwner(connection)
        thread = try BatchThread { jobs in
            RedisStore.perform(jobs, owner.connection)
        } finish: {
            owner.close()
        }
    }

    /// Ends what was asked for and closes the connection. Later calls throw ``TenonError/Code/storeClosed``.
    package func close() async { await thread.end() }

    /// Asks Redis for its clock, of which all instances have the same, and whether it has begun to throw entries away:
    /// it is not believed then, nor what it has when it no longer does.
    ///
    /// - Returns: by how many milliseconds this machine's clock is ahead, and by how many Redis's is behind what it was.
    package func look() async throws(TenonError) -> (clockDifference: Int64, stepBack: Int64) {
        let memory = try await run { _ in ["INFO", "memory"].map { Array($0.utf8) } }
        guard RedisConnection.facts(memory)["maxmemory_policy"] == "noeviction" else {
            self.memory.withLock { $0.mayEvict = true }
            throw .redisEvicts
        }
        if self.memory.withLock({ $0.mayEvict }) {
            let forget = [Array("DEL".utf8), key("epoch")]
            _ = try await run { _ in forget }
            self.memory.withLock { $0.mayEvict = false }
        }
        let command = RedisStore.lookScript.command([key("time")], [time])
        let times = try await run { _ in command }.list?.compactMap(\.integer) ?? []
        guard times.count == 2 else { throw .damaged("a time") }
        return (clock.now().wall - times[0], times[1] - times[0])
    }

    private static let lookScript = RedisScript(text: clockScript + "return {time, now}")

    /// What scripts begin with: Redis's time in milliseconds, which is set back with its machine's clock, and one that is
    /// not. KEYS: the time. ARGV: the time or nothing.
    static let clockScript = """
        local time = tonumber(ARGV[1])
        if not time then
            local read = redis.call('TIME')
            time = read[1] * 1000 + math.floor(read[2] / 1000)
        end
        local seen = tonumber(redis.call('GET', KEYS[1]) or 0)
        local now = math.max(time, seen)
        local seconds = math.floor(now / 1000)
        if now > seen then redis.pcall('SET', KEYS[1], now) end

        """

    var time: [UInt8] { options.time }

    func key(_ kind: String, _ name: [UInt8] = []) -> [UInt8] { options.key(kind, name) }

    /// - Parameter command: made when the server's life is known in which it is to run.
    func run(_ command: @escaping @Sendable (_ runID: String) -> RedisCommand) async throws(TenonError) -> RedisReply {
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
            // Which is nobody's mistake who asks.
            for job in jobs { job.finish(.failure(error.code == .configuration ? .redisEvicts : error)) }
        }
    }
}

private struct RedisJob: Sendable {
    let command: @Sendable (_ runID: String) -> RedisCommand
    let finish: @Sendable (Result<RedisReply, TenonError>) -> Void
}

/// Carries the connection to its thread, which alone touches it from then on.
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
