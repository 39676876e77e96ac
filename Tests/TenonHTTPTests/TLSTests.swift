// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonHTTP
import Testing

/// The identity of the server: certificates, pins, versions. Nothing is sent to the wrong server.
@Suite(.timeLimit(.minutes(1))) struct TLSTests {
    /// The result of a GET: a code, or nil if there is an answer.
    private func expect(
        _ expected: TenonError.Code?, _ url: String, _ options: HTTPTransport.Options,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let transport = try HTTPTransport(options)
        var code: TenonError.Code?
        do throws(TenonError) {
            let answer = try await transport.exchange(
                HTTPRequest(method: "GET", url: url), deadline: HTTPTransport.soon)
            #expect(answer.status == 200, sourceLocation: location)
        } catch {
            code = error.code
        }
        #expect(code == expected, sourceLocation: location)
    }

    @Test func otherCAsDoNotKnowIt() async throws {
        try await withTLSServer { other in
            try await withTLSServer { server in
                for options in [.init(), HTTPTransport.Options(caFile: other.caFile)] {
                    try await expect(.tlsUntrusted, server.url, options)
                }
            }
        }
    }

    /// A pin is checked in addition to the CA, and does not replace it.
    @Test("W28: a pin is asked beside the CA") func w28_aPinIsAskedBesideTheCA() async throws {
        try await withTLSServer { server in
            let url = server.url
            let bytes: [UInt8] = [1, 2, 3]
            let other = try Digest(hashing: bytes.span)
            let ca = server.caFile
            try await expect(nil, url, .init(caFile: ca, pins: [server.pin]))
            try await expect(nil, url, .init(caFile: ca, pins: [other, server.pin]))
            try await expect(.tlsPin, url, .init(caFile: ca, pins: [other]))
            try await expect(.tlsUntrusted, url, .init(pins: [server.pin]))
        }
    }

    @Test func anotherHostsCertificate() async throws {
        try await withTLSServer(host: "other.example") { server in
            for host in ["localhost", "127.0.0.1"] {
                let options = HTTPTransport.Options(caFile: server.caFile)
                try await expect(.tlsHost, "https://\(host):\(server.port)/", options)
            }
        }
    }

    @Test(arguments: [("20200101000000Z", "20200201000000Z"), ("20980101000000Z", "20990101000000Z")])
    func notValidToday(_ from: String, _ to: String) async throws {
        try await withTLSServer(valid: (from, to)) { server in
            let options = HTTPTransport.Options(caFile: server.caFile)
            try await expect(.tlsDate, server.url, options)
        }
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func versions(_ version: String) async throws {
        try await withTLSServer(version) { server in
            try await expect(nil, server.url, .init(caFile: server.caFile))
        }
    }

    @Test("W28: TLS 1.2 and newer", arguments: ["-tls1", "-tls1_1"])
    func w28_oldVersionsOfTLSAreRefused(_ version: String) async throws {
        try await withTLSServer(version, "-cipher", "DEFAULT@SECLEVEL=0") { server in
            let options = HTTPTransport.Options(caFile: server.caFile)
            try await expect(.tlsHandshake, server.url, options)
        }
    }

    @Test(arguments: ["/nowhere/ca.pem", "/dev/null", "/"])
    func noCAFile(_ path: String) async throws {
        try await withTLSServer { server in
            try await expect(.tlsTrustFile, server.url, .init(caFile: path))
        }
    }

    /// A peer that does not speak TLS, or that is cut during the handshake, gets nothing.
    @Test(arguments: ["HTTP/1.1 400 Bad Request\r\n\r\n", "", "\u{16}\u{3}\u{3}"])
    func noTLS(_ answer: String) async throws {
        try await withServer { connection in
            _ = connection.read(1)
            connection.write(answer)
        } _: { server in
            let code = try await HTTPTransport().failure("https://127.0.0.1:\(server.port)/")
            #expect(code == .tlsHandshake || code == .httpConnect)
            #expect(code?.category != .unknown)
        }
    }

    @Test func silenceWithinTLS() async throws {
        try await withServer {
            $0.waitForEnd()
        } _: { server in
            let options = HTTPTransport.Options(connectTimeout: .milliseconds(150))
            let code = try await HTTPTransport(options).failure("https://127.0.0.1:\(server.port)/")
            #expect(code == .httpConnectTimeout)
        }
    }

    /// Plain HTTP to another machine is refused, whatever the way there.
    @Test(arguments: [.init(), .init(proxy: "http://127.0.0.1:1")] as [HTTPTransport.Options])
    func plainLeavesNoMachine(_ options: HTTPTransport.Options) async throws {
        for url in ["http://a.example/", "http://128.0.0.1/", "http://[::2]/", "http://localhost.a.example/", ""] {
            try await expect(.httpURL, url, options)
        }
    }
}
