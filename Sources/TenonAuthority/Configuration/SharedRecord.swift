// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// The stores that instances share. It contains no password: Redis's is in a file or in the environment, and libpq has
/// its own means, like `passfile`.
package struct SharedRecord: Equatable, Sendable {
    package var redis: RedisStore.Address
    /// The user in Redis's access list; nil is the default user.
    package var redisUser: String?
    package var redisPasswordFile: String?
    /// The prefix of all names in Redis and the schema in PostgreSQL, which tell authorities on the same servers apart.
    package var name: String
    package var postgres: String
    /// The number of this instance's connections to PostgreSQL for requests; one more is for health checks.
    package var postgresConnections = 8
    /// The most requests that may wait for a connection.
    package var postgresWaiting = 512
    /// The time within which a store must answer.
    package var deadlineMilliseconds = 2_000

    package init(redis: RedisStore.Address, postgres: String) {
        self.redis = redis
        self.postgres = postgres
        name = "tenon"
    }

    init(_ section: inout ConfigurationSection) throws(TenonError) {
        redis = try section.required("redis", "redis://ADDRESS:PORT or unix:/PATH") {
            $0.string.flatMap(RedisStore.Address.init(url:))
        }
        redisUser = try section.optional("redis_user", "1 to 64 of A-Z a-z 0-9 . _ -", ConfigurationForm.name)
        redisPasswordFile = try section.optional("redis_password_file", "a path", ConfigurationForm.path)
        name =
            try section.optional("name", "1 to 63 of a-z 0-9 _, no digit first") { json in
                json.string.flatMap { PostgresTarget.isSchema($0) ? $0 : nil }
            } ?? "tenon"
        postgres = try section.required("postgres", "a postgres:// URL", ConfigurationForm.path)
        postgresConnections = try section.integer("postgres_connections", 1...64, default: postgresConnections)
        postgresWaiting = try section.integer("postgres_waiting", 1...65_536, default: postgresWaiting)
        deadlineMilliseconds = try section.integer("deadline_ms", 100...30_000, default: deadlineMilliseconds)
    }
}

extension RedisStore.Address {
    /// `redis://127.0.0.1:6379`, `redis://[::1]:6379`, or `unix:/run/redis.sock`: an address of this machine, because
    /// the connection is not encrypted (decision: encrypted-stores), and nothing more, such as a password.
    package init?(url: String) {
        if url.hasPrefix("unix:/") {
            let path = String(url.dropFirst(5))
            guard !path.utf8.contains(0) else { return nil }
            self = .unix(path: path)
            return
        }
        guard url.hasPrefix("redis://"), let colon = url.lastIndex(of: ":") else { return nil }
        let host = url[..<colon].dropFirst(8)
        let digits = url[url.index(after: colon)...]
        let address = host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host
        guard Address.isNumeric(String(address)), Address.isLoopback(String(address)),
            host.contains(":") == host.hasPrefix("["), let port = UInt16(digits), port > 0, String(port) == digits
        else { return nil }
        self = .tcp(address: String(address), port: Int(port))
    }
}
