// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority
internal import TenonCommandLine

/// The stores that instances share: `--shared`, whose addresses stand behind it or in the configuration.
enum SharedChoice {
    private static let passwordVariable = "TENON_REDIS_PASSWORD"

    /// Nil without `--shared`; a configuration that has shared stores is started with it, as another start would be
    /// another authority, without their devices.
    ///
    /// - Parameter isOptional: whether a configuration with shared stores may do without them, too.
    static func stores(
        _ arguments: Arguments, _ configuration: Configuration, folder: String, isOptional: Bool = false
    ) throws(TenonError) -> AuthorityInstance.Shared? {
        guard arguments.has("--shared") else {
            if isOptional { return nil }
            guard configuration.shared == nil, arguments.operands.isEmpty, !arguments.has("--rolling") else {
                throw arguments.mistake("The stores are shared ones: start with --shared.")
            }
            return nil
        }
        let record = try record(arguments, configuration.shared)
        var redis = RedisStore.Options(address: record.redis, prefix: "\(record.name):")
        redis.user = record.redisUser
        redis.password = try password(record, folder: folder)
        let postgres = PostgresStore.Options(
            address: record.postgres, schema: record.name, connections: record.postgresConnections,
            waiting: record.postgresWaiting, deadline: .milliseconds(record.deadlineMilliseconds))
        var shared = AuthorityInstance.Shared(postgres: postgres, redis: redis)
        shared.isRolling = arguments.has("--rolling")
        return shared
    }

    private static func record(
        _ arguments: Arguments, _ configured: SharedRecord?
    ) throws(TenonError) -> SharedRecord {
        let operands = arguments.operands
        if operands.isEmpty, let configured { return configured }
        guard operands.count == 2, let redis = RedisStore.Address(url: operands[0]) else {
            throw arguments.mistake(
                "--shared needs \"shared\" in the configuration, or redis://ADDRESS:PORT or unix:/PATH, of this machine, "
                    + "and postgres://...")
        }
        var record = configured ?? SharedRecord(redis: redis, postgres: operands[1])
        (record.redis, record.postgres) = (redis, operands[1])
        return record
    }

    /// Of the file, without the end of its line, or of the environment.
    private static func password(_ record: SharedRecord, folder: String) throws(TenonError) -> String? {
        if let path = record.redisPasswordFile {
            let text = try TextFile.read(FolderChoice.path(path, in: folder))
            return text.hasSuffix("\n") ? String(text.dropLast()) : text
        }
        return Environment.variable(passwordVariable)
    }
}
