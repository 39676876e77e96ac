// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonAuthority
internal import TenonCommandLine

/// `tenon-authority audit verify`: reads the log again, line by line, and the signatures in it.
enum AuditCommand {
    static func run(_ arguments: Arguments) async throws(TenonError) {
        let told = try heads(arguments)
        let folder = try AuthorityFolder(try FolderChoice.path(arguments))
        guard let keys = try AuthorityKeys(from: folder) else {
            throw TenonError(.configuration, message: "There is no CA in \(folder.path), so no log either.")
        }
        let path = try arguments.value("--config") ?? "\(folder.path)/\(Configuration.fileName)"
        let configuration = try Configuration(file: path)
        let kept = try await mark(arguments, configuration, folder)
        let summary = try verify("\(folder.path)/\(AuditLog.fileName)", configuration.instance, keys, told, kept)
        Output.line("\(summary.lines) lines, each where it was written; a signed head covers \(summary.signedLines)")
        for line in summary.acceptances {
            Output.line("Line \(line) says in what the log before it was not the one that was written.")
        }
        if kept == nil {
            Output.error("No database was asked: a log that was cut short shows by --head, or --shared, alone.")
        }
    }

    /// What the database knows: it is in the folder, or shared.
    private static func mark(
        _ arguments: Arguments, _ configuration: Configuration, _ folder: AuthorityFolder
    ) async throws(TenonError) -> AuditMark? {
        guard let shared = try SharedChoice.stores(arguments, configuration, folder: folder.path, isOptional: true)
        else {
            return try SQLiteStore.auditMark(of: configuration.instance, in: folder)
        }
        var options = shared.postgres
        options.connections = 1
        let store = try PostgresStore(options: options)
        do throws(TenonError) {
            let mark = try await store.auditMark(of: configuration.instance)
            await store.close()
            return mark
        } catch {
            await store.close()
            throw error
        }
    }

    /// `N:MAC`, as `serve` tells them.
    private static func heads(_ arguments: Arguments) throws(TenonError) -> [Int64: Digest] {
        var heads: [Int64: Digest] = [:]
        for text in arguments.all("--head") {
            let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
            guard parts.count == 2, let line = Int64(parts[0]), let mac = try? TextEncoding.hex.decode(parts[1]),
                let digest = try? Digest(rawRepresentation: mac)
            else { throw arguments.mistake("--head is N:MAC, as serve told it.") }
            heads[line] = digest
        }
        return heads
    }

    private static func verify(
        _ path: String, _ instance: String, _ keys: AuthorityKeys, _ told: [Int64: Digest],
        _ kept: AuditMark?
    ) throws(TenonError) -> AuditVerifier.Summary {
        let key = keys.audit.withBytes { bytes in bytes.indices.map { bytes[$0] } }
        var verifier = try AuditVerifier(instance: instance, key: key, told: told, kept: kept) {
            head, signature throws(TenonError) in
            try keys.verify(signature, of: head.message)
        }
        guard let file = fopen(path, "re") else {
            throw TenonError(.storePermission, message: "\(path) cannot be read.")
        }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&bytes, 1, bytes.count, file), count > 0 {
            try verifier.update(Array(bytes[..<count]))
        }
        return try verifier.finish()
    }
}
