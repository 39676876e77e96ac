// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonAuthority
internal import TenonCommandLine

/// The stores that instances share: `--shared`, with addresses as operands or in the configuration.
enum SharedChoice {
    private static let passwordVariable = "TENON_REDIS_PASSWORD"

    /// Nil without `--shared`. A configuration with shared stores needs the flag: without it, the start would be a
    /// different authority, without their devices.
    ///
    /// - Parameter isOptional: whether the flag may be missing even if the configuration has shared stores.
    static func stores(
        _ arguments: Arguments, _ configuration: Configuration, folder: String, isOptional: Bool = false
    ) throws(TenonError) -> AuthorityInstance.Shared? {
        guard arguments.has("--shared") else {
            if isOptional { return nil }
            guard configuration.shared == nil, arguments.operands.isEmpty, !arguments.has("--rolling") else {
                throw arguments.mistake("Operands, --rolling and shared stores need --shared.")
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

    /// The password, from the file without its line feed, or from the environment.
    private static func password(_ record: SharedRecord, folder: String) throws(TenonError) -> String? {
        if let path = record.redisPasswordFile {
            let text = try TextFile.read(FolderChoice.path(path, in: folder))
            return text.hasSuffix("\n") ? String(text.dropLast()) : text
        }
        return Environment.variable(passwordVariable)
    }
}

/// The folder of the state.
enum FolderChoice {
    /// - Throws: ``TenonError/Code/options`` when neither the command line nor the environment names it.
    static func path(_ arguments: Arguments) throws(TenonError) -> String {
        if let path = try arguments.value("--state-dir") { return path }
        if let path = Environment.variable("STATE_DIRECTORY") { return path }
        if let path = Environment.variable("XDG_STATE_HOME") { return path + "/tenon-authority" }
        if geteuid() == 0 { return "/var/lib/tenon-authority" }
        guard let home = Environment.variable("HOME") else {
            throw arguments.mistake("Give --state-dir: there is no home folder.")
        }
        for folder in ["/.local", "/.local/state"] { mkdir(home + folder, 0o700) }
        return home + "/.local/state/tenon-authority"
    }

    /// A path from the configuration; a relative path starts at the folder.
    static func path(_ path: String, in folder: String) -> String {
        path.hasPrefix("/") ? path : "\(folder)/\(path)"
    }
}

/// Reads small files that an operator names.
enum TextFile {
    private static let maxBytes = 1 << 20

    /// - Throws: ``TenonError/Code/configuration``.
    static func read(_ path: String) throws(TenonError) -> String {
        guard let file = fopen(path, "re") else { throw mistake(path) }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: maxBytes)
        let count = fread(&bytes, 1, bytes.count, file)
        guard ferror(file) == 0, count > 0, count < bytes.count else { throw mistake(path) }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    private static func mistake(_ path: String) -> TenonError {
        TenonError(.configuration, message: "\(path) cannot be read, is empty, or is larger than 1 MiB.")
    }
}
