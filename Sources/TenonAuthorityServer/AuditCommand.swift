// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonAuthority

/// `tenon-authority audit verify`: reads the log again, line by line, and the signatures in it.
enum AuditCommand {
    static func run(_ arguments: Arguments) throws(TenonError) {
        let told = try heads(arguments.all("--head"))
        let folder = try AuthorityFolder(try FolderChoice.path(arguments))
        guard let keys = try AuthorityKeys(from: folder) else {
            throw TenonError(.configuration, message: "There is no CA in \(folder.path), so no log either.")
        }
        let path = try arguments.value("--config") ?? "\(folder.path)/\(Configuration.fileName)"
        let instance = try Configuration(file: path).instance
        let summary = try verify("\(folder.path)/\(AuditLog.fileName)", instance, keys, told)
        Output.line("\(summary.lines) lines, each where it was written; a signed head covers \(summary.signedLines)")
    }

    /// `N:MAC`, as `serve` tells them.
    private static func heads(_ texts: [String]) throws(TenonError) -> [Int64: Digest] {
        var heads: [Int64: Digest] = [:]
        for text in texts {
            let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
            guard parts.count == 2, let line = Int64(parts[0]), let mac = try? TextEncoding.hex.decode(parts[1]),
                let digest = try? Digest(rawRepresentation: mac)
            else { throw Arguments.mistake("--head is N:MAC, as serve told it.") }
            heads[line] = digest
        }
        return heads
    }

    private static func verify(
        _ path: String, _ instance: String, _ keys: AuthorityKeys, _ told: [Int64: Digest]
    ) throws(TenonError) -> AuditVerifier.Summary {
        let key = keys.audit.withBytes { bytes in bytes.indices.map { bytes[$0] } }
        var verifier = try AuditVerifier(instance: instance, key: key, told: told) {
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
