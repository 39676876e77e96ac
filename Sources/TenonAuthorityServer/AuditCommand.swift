// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonAuthority
internal import TenonCommandLine

/// `tenon-authority audit verify`: reads the log again, line by line, and the signatures in it.
enum AuditCommand {
    static func run(_ arguments: Arguments) throws(TenonError) {
        let folder = try AuthorityFolder(try FolderChoice.path(arguments))
        guard let keys = try AuthorityKeys(from: folder) else {
            throw TenonError(.configuration, message: "There is no CA in \(folder.path), so no log either.")
        }
        let path = "\(folder.path)/\(Configuration.fileName)"
        let instance = try Configuration(file: path).instance
        let summary = try verify("\(folder.path)/\(AuditLog.fileName)", instance, keys)
        Output.line("\(summary.lines) lines, each where it was written; a signed head covers \(summary.signedLines)")
    }

    private static func verify(
        _ path: String, _ instance: String, _ keys: AuthorityKeys
    ) throws(TenonError) -> AuditVerifier.Summary {
        let key = keys.audit.withBytes { bytes in bytes.indices.map { bytes[$0] } }
        var verifier = try AuditVerifier(instance: instance, key: key) { head, signature throws(TenonError) in
            let signature = try Signature(derRepresentation: signature.span)
            let message = head.message
            try keys.publicKey.verify(signature, for: Digest(hashing: message.span))
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
