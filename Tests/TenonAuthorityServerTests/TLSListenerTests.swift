// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TenonHTTP
import TestFolders
import Testing

@testable import TenonAuthority
@testable import TenonAuthorityServer

/// A listener that speaks TLS.
@Suite(.timeLimit(.minutes(1))) struct TLSListenerTests {
    /// A certificate for `localhost` with its key and CA, in a folder.
    private func withCertificate(_ body: (String) async throws -> Void) async throws {
        let script =
            "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Tests/Scripts/tls_server.sh"
        try await withFolder { folder in
            let ended = try await Program(
                at: "/bin/sh", [script, folder, "localhost", "20200101000000Z", "21000101000000Z"]
            ).ended()
            try #require(ended.code == 0)
            try await body(folder)
        }
    }

    private func serve(_ folder: String, certificate: String = "server.pem") throws -> HTTPServer {
        var options = HTTPServer.Options()
        options.tls = (try TextFile.read("\(folder)/\(certificate)"), try TextFile.read("\(folder)/server.key"))
        return try HTTPServer(ListeningSocket(address: "127.0.0.1", port: 0), options) { request, _ in
            AuthorityAnswer(status: 200, body: request.body)
        }
    }

    @Test func anExchange() async throws {
        try await withCertificate { folder in
            let server = try serve(folder)
            let transport = try HTTPTransport(.init(caFile: folder + "/ca.pem"))
            for size in [0, 1, 32_768] {
                let body = [UInt8](repeating: 0x78, count: size)
                let answer = try await transport.exchange(
                    HTTPRequest(method: "POST", url: "https://localhost:\(server.socket.port)/", body: body),
                    deadline: .now + .seconds(30))
                #expect(answer.status == 200 && answer.body == body)
            }
            // The connection is kept, and idle: the stop ends it.
            await server.stop()
        }
    }

    /// With flags and without a configuration: the default configuration has the origin that devices see.
    @Test func byFlags() async throws {
        try await withCertificate { folder in
            let (state, port) = (folder + "/state", try ListeningSocket(address: "127.0.0.1", port: 0).port)
            let flags = ["--tls-cert", folder + "/server.pem", "--tls-key", folder + "/server.key"]
            for _ in 0..<2 {
                let isNew = access(state, F_OK) != 0
                let program = try Program(["--state-dir", state] + (isNew ? ["--port", "\(port)"] : []) + flags)
                while let line = await program.line(), !line.hasPrefix("tenon-authority ") {}
                let answer = try await HTTPTransport(.init(caFile: folder + "/ca.pem")).exchange(
                    HTTPRequest(method: "GET", url: "https://localhost:\(port)/health"), deadline: .now + .seconds(30))
                #expect(answer.status == 200)
                #expect(try TextFile.read(state + "/authority.json").contains("\"https://127.0.0.1:\(port)\""))
                try await program.stop()
            }
            let ended = try await Program.run("--state-dir", state, "--tls-cert", folder + "/ca.pem", "--tls-key", "x")
            #expect(ended.code == 2 && ended.output.contains("x cannot be read"))
        }
    }

    @Test func whoSpeaksNoTLS() async throws {
        try await withCertificate { folder in
            let server = try serve(folder)
            let answers = await (try RawClient(port: server.socket.port)).talk(FramingTests.behind)
            #expect(!answers.contains("HTTP/1.1"))
            await server.stop()
        }
    }

    @Test(arguments: [("-tls1_1", false), ("-tls1_2", true), ("-tls1_3", true)])
    func versions(_ version: String, _ isSpoken: Bool) async throws {
        try await withCertificate { folder in
            let server = try serve(folder)
            let ended = try await Program(
                at: "/bin/sh",
                [
                    "-c", "exec openssl s_client -connect \"$1\" \"$2\" -cipher DEFAULT@SECLEVEL=0 < /dev/null", "sh",
                    "127.0.0.1:\(server.socket.port)", version,
                ]
            ).ended()
            #expect((ended.code == 0) == isSpoken)
            await server.stop()
        }
    }

    /// A certificate for another key, and a file that is not a certificate.
    @Test(arguments: ["ca.pem", "server.key", "server.csr"])
    func noPair(_ certificate: String) async throws {
        try await withCertificate { folder in
            #expect(throws: TenonError(.listenerFailed, message: "")) { try serve(folder, certificate: certificate) }
        }
    }
}
