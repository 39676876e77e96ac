// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority
internal import TenonCommandLine

/// `tenon-authority ca init` and `ca show`.
enum CACommand {
    static func run(_ arguments: Arguments) throws(TenonError) {
        let folder = try AuthorityFolder(try FolderChoice.path(arguments))
        let name = try arguments.value("--name") ?? "Tenon"
        guard 1...32 ~= name.utf8.count else { throw arguments.mistake("--name has 1 to 32 bytes.") }
        let keys = try AuthorityKeys.create(in: folder, name: name, at: SystemClock().now().seconds)
        for certificate in [keys.issuer.certificate] + keys.roots {
            Output.text(pem(TextEncoding.base64.encode(certificate)))
        }
        Output.error("The CA is made. Keep a backup of \(folder.path)/ca.json where nobody else reads it.")
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
