// SPDX-License-Identifier: Apache-2.0
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
            throw arguments.mistake("--name has 1 to 32 bytes.")
        }
        var held: HeldKey?
        if let tpm = try arguments.value("--tpm") { held = try AuthorityTPM.makeKey(tpm) }
        let keys = try keys(folder, name, SystemClock().now().seconds, held)
        for certificate in [keys.issuer.certificate] + keys.roots {
            Output.text(pem(TextEncoding.base64.encode(certificate)))
        }
        Output.error("The CA is \(what). Keep a backup of \(folder.path)/ca.json where nobody else reads it.")
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
