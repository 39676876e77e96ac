// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import Tenon
import TestFolders
import Testing

@testable import TenonAuthority

/// The servers of Tests/Scripts/stores.sh, which `make check-swift` runs the tests with.
enum SharedServers {
    static let folder: String? = getenv("TENON_TEST_STORES").map { String(cString: $0) }

    private static let count = Atomic(0)

    /// A name that is unique on these servers.
    static func name() -> String { "t\(getpid())_\(count.add(1, ordering: .relaxed).newValue)" }

    /// The deadline of tests that are not about deadlines, long enough for a busy disk.
    static let patience = Duration.seconds(30)

    static func address(user: String = "tenon", in place: String = "") throws -> String {
        "host=\(try #require(folder) + place) user=\(user) dbname=postgres"
    }

    static func postgres(
        _ name: String, user: String = "tenon", in place: String = "", connections: Int = 3,
        deadline: Duration = patience, services: [HostedService] = []
    ) throws -> PostgresStore {
        var options = PostgresStore.Options(
            address: try address(user: user, in: place), schema: name, connections: connections, deadline: deadline)
        options.services = services
        return try PostgresStore(options: options)
    }

    /// A connection to a schema, as the owner of the server.
    static func connection(_ schema: String) throws -> PostgresConnection {
        let connection = PostgresConnection(try PostgresTarget(address(), schema: schema))
        try connection.connect()
        return connection
    }

    /// A connection that has made a role with a schema of its name.
    static func owner(ofRole name: String, _ more: String = "") throws -> PostgresConnection {
        let owner = try connection(name)
        try owner.runScript("CREATE ROLE \(name) LOGIN; GRANT CREATE ON DATABASE postgres TO \(name); \(more)")
        return owner
    }

    /// A place of its own for instances.
    static func shared(in place: String = "") throws -> AuthorityInstance.Shared {
        let name = name()
        return AuthorityInstance.Shared(
            postgres: .init(address: try address(in: place), schema: name, connections: 2),
            redis: .init(address: .unix(path: "\(try #require(folder) + place)/redis.sock"), prefix: "\(name):"))
    }

    static func redis(
        _ name: String, in place: String = "", clock: any AuthorityClock, server: FakeClock?,
        horizon: any ReplayHorizon,
        maxChallenges: Int = 10_000, requestsPerDevice: Int = 10_000, rootsPerDevice: Int = 41_600
    ) throws -> RedisStore {
        let folder = try #require(folder) + place
        var options = RedisStore.Options(
            address: .unix(path: "\(folder)/redis.sock"), prefix: "\(name):", maxChallenges: maxChallenges,
            requestsPerDevice: requestsPerDevice)
        options.rootsPerDevice = rootsPerDevice
        if let server { options.serverTime = { server.now().wall } }
        return try RedisStore(options: options, clock: clock, horizon: horizon)
    }

    /// The log of the PostgreSQL that keeps running.
    static func log() throws -> [String] {
        let text = String(decoding: try readFile("\(try #require(folder))/postgres.log"), as: UTF8.self)
        return text.split(separator: "\n").map(String.init)
    }

    /// Commands the servers that may be stopped.
    static func command(_ all: String...) throws {
        for words in all {
            let server = "'\(try #require(folder))/fragile/server'"
            guard let pipe = popen("\(server) \(words) 2>&1", "r") else { throw Surprise("no pipe") }
            while fgetc(pipe) != EOF {}
            guard pclose(pipe) == 0 else { throw Surprise("server \(words) failed") }
        }
    }
}

/// One instance over the shared servers.
struct SharedInstance {
    let postgres: PostgresStore
    let redis: RedisStore
    let stores: TestStores

    /// - Parameter server: the clock of Redis; the instance's own by default.
    init(
        _ name: String = SharedServers.name(), in place: String = "", clock: FakeClock = FakeClock(),
        server: FakeClock? = nil, maxChallenges: Int = 10_000, requestsPerDevice: Int = 10_000,
        rootsPerDevice: Int = 41_600, deadline: Duration = SharedServers.patience, services: [HostedService] = []
    ) throws {
        let server = server ?? clock
        postgres = try SharedServers.postgres(name, in: place, deadline: deadline, services: services)
        redis = try SharedServers.redis(
            name, in: place, clock: clock, server: server, horizon: postgres, maxChallenges: maxChallenges,
            requestsPerDevice: requestsPerDevice, rootsPerDevice: rootsPerDevice)
        stores = TestStores(challenges: redis, devices: postgres, replays: redis, answers: redis, clock: clock)
    }

    func close() async {
        await redis.close()
        await postgres.close()
    }
}
