// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonAuthority
internal import TenonCommandLine

/// `tenon-authority ca init`, `ca roll` and `ca show`.
enum CACommand {
    /// `ca init`.
    static func make(_ arguments: Arguments) throws(TenonError) {
        try write(arguments, "made") { folder, name, now, held throws(TenonError) in
            try AuthorityKeys.create(in: folder, name: name ?? "Tenon", at: now, held: held)
        }
    }

    static func roll(_ arguments: Arguments) throws(TenonError) {
        try write(arguments, "rolled over") { folder, name, now, held throws(TenonError) in
            try AuthorityKeys.roll(in: folder, name: name, at: now, held: held)
        }
    }

    private static func write(
        _ arguments: Arguments, _ what: String,
        _ keys: (AuthorityFolder, String?, Int64, HeldKey?) throws(TenonError) -> AuthorityKeys
    ) throws(TenonError) {
        let folder = try AuthorityFolder(try FolderChoice.path(arguments))
        let name = try arguments.value("--name")
        guard name.map({ 1...32 ~= $0.utf8.count }) ?? true else {
            throw arguments.mistake("--name must have 1 to 32 bytes.")
        }
        var held: HeldKey?
        if let tpm = try arguments.value("--tpm") { held = try AuthorityTPM.makeKey(tpm) }
        let keys = try keys(folder, name, SystemClock().now().seconds, held)
        for certificate in [keys.issuer.certificate] + keys.roots {
            Output.text(pem(TextEncoding.base64.encode(certificate)))
        }
        Output.error("The CA is \(what). Keep a backup of \(folder.path)/ca.json where nobody else can read it.")
    }

    static func show(_ arguments: Arguments) async throws(TenonError) {
        let answer = try JSON(parsing: try await AdminClient(arguments).get("/v1/ca"))
        for certificate in [answer["issuer"]].compactMap({ $0 }) + (answer["roots"]?.array ?? []) {
            Output.text(pem(certificate.string ?? ""))
        }
    }

    private static func pem(_ certificate: String) -> String {
        var rest = certificate[...]
        var text = "-----BEGIN CERTIFICATE-----\n"
        while !rest.isEmpty {
            text += rest.prefix(64) + "\n"
            rest = rest.dropFirst(64)
        }
        return text + "-----END CERTIFICATE-----\n"
    }
}

/// `tenon-authority audit verify`: reads the log again, line by line, and the signatures in it.
enum AuditCommand {
    static func run(_ arguments: Arguments) async throws(TenonError) {
        let told = try heads(arguments)
        let folder = try AuthorityFolder(try FolderChoice.path(arguments))
        guard let keys = try AuthorityKeys(from: folder) else {
            throw TenonError(.configuration, message: "There is no CA in \(folder.path), so there is no log either.")
        }
        let path = try arguments.value("--config") ?? "\(folder.path)/\(Configuration.fileName)"
        let configuration = try Configuration(file: path, services: HostedService.all)
        let kept = try await mark(arguments, configuration, folder)
        let summary = try verify("\(folder.path)/\(AuditLog.fileName)", configuration.instance, keys, told, kept)
        Output.line("\(summary.lines) lines, all in their places; a signed head covers \(summary.signedLines)")
        for line in summary.acceptances {
            Output.line("Line \(line) says how the log before it differs from what was written.")
        }
        if kept == nil {
            Output.error("No database was asked. Only --head or --shared can show that the log was cut short.")
        }
    }

    /// The end of the log as the database knows it; the database is in the folder or shared.
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

    /// Heads as `N:MAC`, the form in which `serve` prints them.
    private static func heads(_ arguments: Arguments) throws(TenonError) -> [Int64: Digest] {
        var heads: [Int64: Digest] = [:]
        for text in arguments.all("--head") {
            let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
            guard parts.count == 2, let line = Int64(parts[0]), let mac = try? TextEncoding.hex.decode(parts[1]),
                let digest = try? Digest(rawRepresentation: mac)
            else { throw arguments.mistake("--head must be N:MAC, as serve printed it.") }
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

/// `tenon-authority clock reset`: forgets the time that was kept, if it was wrong.
enum ClockCommand {
    static func reset(_ arguments: Arguments) throws(TenonError) {
        let folder = try AuthorityFolder(try FolderChoice.path(arguments))
        let now = SystemClock().now()
        let kept = try KeptTime.reset(in: folder, at: now)
        let (before, after) = (CivilDate.iso8601(kept / 1_000), CivilDate.iso8601(now.seconds))
        Output.line(
            kept > now.wall
                ? "The store had seen \(before), and now starts from \(after)."
                : "The store had seen \(before), which is not after \(after). Its time stays.")
    }
}
