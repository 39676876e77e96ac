// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TenonHTTP
import Testing

/// Through a proxy, which is told the host and nothing else.
@Suite(.timeLimit(.minutes(1))) struct ProxyTests {
    @Test func aTunnel() async throws {
        try await withTLSServer(host: "authority.example") { target in
            try await withServer { connection in
                let head = connection.readRequest() ?? ""
                connection.write("HTTP/1.1 200 Connection established\r\nX-Proxy: 1\r\n\r\n")
                if head.hasPrefix("CONNECT ") { connection.join(port: target.port) }
            } _: { proxy in
                let transport = try HTTPTransport(
                    .init(caFile: target.caFile, proxy: "http://user:p%40ss@127.0.0.1:\(proxy.port)"))
                let answer = try await transport.exchange(
                    HTTPRequest(
                        method: "GET", url: "https://authority.example/v1", headers: [("Authorization", "secret")]),
                    deadline: HTTPTransport.soon)
                #expect(answer.status == 200)
                #expect(answer.values(of: "X-Proxy").isEmpty)
                #expect(
                    proxy.requests == [
                        """
                        CONNECT authority.example:443 HTTP/1.1\r
                        Host: authority.example:443\r
                        Proxy-Authorization: Basic dXNlcjpwQHNz\r
                        User-Agent: tenon/\(tenonVersion)\r
                        Proxy-Connection: Keep-Alive\r
                        \r

                        """
                    ])
            }
        }
    }

    @Test func theTargetsCertificateCounts() async throws {
        try await withTLSServer(host: "other.example") { target in
            try await withServer { connection in
                _ = connection.readRequest()
                connection.write("HTTP/1.1 200 OK\r\n\r\n")
                connection.join(port: target.port)
            } _: { proxy in
                let transport = try HTTPTransport(
                    .init(caFile: target.caFile, proxy: "http://127.0.0.1:\(proxy.port)"))
                #expect(await transport.failure("https://authority.example/") == .tlsHost)
            }
        }
    }

    @Test(
        arguments: [
            ("HTTP/1.1 407 X\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n", .httpProxy),
            ("HTTP/1.1 403 X\r\nContent-Length: 0\r\n\r\n", .httpProxy),
            ("HTTP/1.1 302 X\r\nLocation: /\r\n\r\n", .httpProxy),
            ("HTTP/1.1 502 X\r\n\r\nno", .httpProxy), ("", .httpConnect), ("SSH-2.0\r\n", .httpConnect),
            ("HTTP/1.1 200 OK\r\n\r\n", .tlsHandshake),
        ] as [(String, TenonError.Code)])
    func refused(_ answer: String, _ expected: TenonError.Code) async throws {
        try await withServer(answeringOnce(answer.utf8)) { proxy in
            let transport = try HTTPTransport(.init(proxy: "http://127.0.0.1:\(proxy.port)"))
            let code = await transport.failure("https://authority.example/")
            #expect(code == expected)
            #expect(code?.category != .unknown)
        }
    }

    @Test func noProxy() async throws {
        let url = try await withServer(answering(good)) { "http://127.0.0.1:\($0.port)" }
        #expect(try await HTTPTransport(.init(proxy: url)).failure("https://authority.example/") == .httpConnect)
        let nowhere = try HTTPTransport(.init(proxy: "http://nowhere.invalid:1"))
        #expect(await nowhere.failure("https://authority.example/") == .httpResolve)
    }

    /// Requests to this machine bypass the proxy.
    @Test func loopback() async throws {
        try await withServer(answering(good)) { server in
            let transport = try HTTPTransport(.init(proxy: "http://127.0.0.1:1"))
            #expect(try await transport.post(server.url).status == 200)
        }
    }

    /// The variables that make libcurl use a proxy are not read.
    @Test func theEnvironmentIsNotRead() async {
        await #expect(processExitsWith: .success) {
            for name in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
                setenv(name, "http://127.0.0.1:1", 1)
            }
            let transport = try HTTPTransport()
            let code = await transport.failure("https://nowhere.invalid/")
            exit(code == .httpResolve ? 0 : 1)
        }
    }
}

extension Connection {
    /// Relays bytes to and from a port of loopback, until that side ends.
    func join(port: UInt16) {
        let socket = connectToLoopback(port)
        defer { Glibc.close(socket) }
        startThread { [self] in
            while case let bytes = read(65_536), !bytes.isEmpty {
                send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            }
            shutdown(socket, Int32(SHUT_WR))
        }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while case let count = recv(socket, &bytes, bytes.count, 0), count > 0 { write(bytes[..<count]) }
    }
}
