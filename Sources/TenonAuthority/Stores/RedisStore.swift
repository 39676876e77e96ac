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
        /// What all keys begin with: authorities that share a server are told apart by it.
        package var prefix: String
        /// Challenges and pending secrets that may be outstanding at a time, over all instances.
        package var maxChallenges: Int
        /// Requests of one device that are remembered.
        package var requestsPerDevice: Int

        package init(
            address: Address, prefix: String = "tenon:", maxChallenges: Int = 10_000, requestsPerDevice: Int = 10_000
        ) {
            self.address = address
            self.prefix = prefix
            self.maxChallenges = maxChallenges
            self.requestsPerDevice = requestsPerDevice
        }
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
        let connection = RedisConnection(try RedisTarget(options.address))
        try connection.connect()
        // Now and not with the first request, which would be refused.
        let begin = RedisStore.epochScript.command(
            [Array("\(options.prefix)epoch".utf8)], RedisStore.epoch(connection.runID, at: clock.now()))
        for reply in try connection.replies(to: [begin]) { _ = try reply.get() }
        let owner = RedisOwner(connection)
        thread = try BatchThread { jobs in
            RedisStore.perform(jobs, owner.connection)
        } finish: {
            owner.close()
        }
    }

    /// Ends what was asked for and closes the connection. Later calls throw ``TenonError/Code/storeClosed``.
    package func close() async { await thread.end() }

    /// By how many milliseconds this machine's clock is ahead of Redis's, which all instances ask; health says so when
    /// it is more than 2,000 either way. It is also how a server that has begun to throw entries away is noticed.
    package func clockDifference() async throws(TenonError) -> Int64 {
        let policy = try await run { _ in ["CONFIG", "GET", "maxmemory-policy"].map { Array($0.utf8) } }
        guard policy.list?.last?.bytes == Array("noeviction".utf8) else {
            throw TenonError(
                .configuration, message: "Redis has to run with maxmemory-policy noeviction: it would readmit replays.")
        }
        let time = try await run { _ in [Array("TIME".utf8)] }
        let parts = time.list?.compactMap { $0.bytes.flatMap { Int64(String(decoding: $0, as: UTF8.self)) } } ?? []
        guard parts.count == 2 else { throw .damaged("a time") }
        return clock.now().wall - parts[0] * 1_000 - parts[1] / 1_000
    }

    func key(_ kind: String, _ name: [UInt8] = []) -> [UInt8] { Array("\(options.prefix)\(kind)".utf8) + name }

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
            for job in jobs { job.finish(.failure(error)) }
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
