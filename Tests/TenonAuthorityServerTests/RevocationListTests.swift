// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TestFolders
import Testing

@testable import TenonAuthority
@testable import TenonAuthorityServer

/// Revocation lists from a CA of openssl.
@Suite(.timeLimit(.minutes(1))) struct RevocationListTests {
    /// `a` is revoked, `b` is not; `none` is an empty list.
    private static let script = """
        set -e; cd "$1"
        new="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
        openssl req -x509 $new -keyout ca.key -out ca.pem -subj /CN=CA -days 10
        for name in a b; do
            openssl req $new -keyout $name.key -out $name.csr -subj /CN=$name
            openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -out $name.pem -set_serial 0x80$(printf %s $name | od -An -tx1 | tr -d ' ')
        done
        openssl req -x509 $new -keyout other.key -out other.pem -subj /CN=Other -days 10 -set_serial 0x8061
        printf '[ca]\\ndefault_ca=d\\n[d]\\ndatabase=index\\ndefault_md=sha256\\ndefault_crl_days=1\\ncrlnumber=number\\ncrl_extensions=e\\n[e]\\nauthorityKeyIdentifier=keyid\\n' > ca.cnf
        echo 01 > number
        printf 'R\\t300101000000Z\\t250101000000Z,keyCompromise\\t8061\\tunknown\\t/CN=a\\n' > index
        openssl ca -gencrl -config ca.cnf -keyfile ca.key -cert ca.pem -out some.crl
        : > index
        openssl ca -gencrl -config ca.cnf -keyfile ca.key -cert ca.pem -out none.crl
        """

    private func withLists(_ body: (String) throws -> Void) async throws {
        try await withFolder { folder in
            let ended = try await Program(at: "/bin/sh", ["-c", Self.script, "sh", folder]).ended()
            try #require(ended.code == 0, "\(ended.output)")
            try body(folder)
        }
    }

    private func certificate(_ path: String) throws -> [UInt8] {
        try #require(try PEMFile(path: path).blocks("CERTIFICATE", member: "").first)
    }

    @Test func whatIsOnAList() async throws {
        try await withLists { folder in
            var revoked = RevokedCertificates()
            try revoked.read(folder + "/none.crl")
            #expect(try !revoked.contains(certificate(folder + "/a.pem")))
            // Only the folder's files with this ending are read; the certificates have another one.
            for name in ["ca", "a", "b", "other"] { rename("\(folder)/\(name).pem", "\(folder)/\(name).crt") }
            try revoked.read(folder)
            #expect(try revoked.contains(certificate(folder + "/a.crt")))
            for name in ["b", "ca", "other"] { #expect(try !revoked.contains(certificate("\(folder)/\(name).crt"))) }
            #expect(!revoked.contains([]) && !revoked.contains([0x30, 0x84, 0xff, 0xff, 0xff, 0xff]))
        }
    }

    /// A list that is cut anywhere, or has a changed structural byte, is refused: the operator is told the file.
    @Test func whatIsNoList() async throws {
        try await withLists { folder in
            let list = try #require(try PEMFile(path: folder + "/some.crl").blocks("X509 CRL", member: "").first)
            func error(_ bytes: [UInt8]) throws -> TenonError? {
                let body = TextEncoding.base64.encode(bytes)
                try "-----BEGIN X509 CRL-----\n\(body)\n-----END X509 CRL-----\n".write(to: folder + "/x.crl")
                var revoked = RevokedCertificates()
                do throws(TenonError) { try revoked.read(folder + "/x.crl") } catch { return error }
                return nil
            }
            #expect(try error(list) == nil)
            for count in 1..<list.count {
                let found = try error(Array(list[..<count]))
                #expect(found?.code == .configuration && found?.message.contains("/x.crl") == true)
            }
            #expect(try error(list + [0])?.code == .configuration)
            // The reason of an entry, marked critical: a critical extension could name another issuer.
            let reason: [UInt8] = [0x30, 0x0a, 0x06, 0x03, 0x55, 0x1d, 0x15, 0x04, 0x03, 0x0a, 0x01, 0x01]
            let start = try #require(list.indices.first { list[$0...].starts(with: reason) })
            var critical = list
            critical.replaceSubrange(
                start..<start + 12, with: [0x30, 0x0a, 0x06, 0x03, 0x55, 0x1d, 0x1d, 0x01, 0x01, 0xff, 0x04, 0x00])
            #expect(try error(critical)?.code == .configuration)
            for path in [folder + "/a.pem", folder + "/absent"] {
                var revoked = RevokedCertificates()
                #expect(throws: TenonError(.configuration, message: "")) { try revoked.read(path) }
            }
        }
    }
}
