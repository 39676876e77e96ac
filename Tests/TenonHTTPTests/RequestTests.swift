// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TenonHTTP
import TestFolders
import Testing

/// Requests as sent, byte for byte, and requests that are refused before sending.
@Suite(.timeLimit(.minutes(1))) struct RequestTests {
    @Test func theWholeRequest() async throws {
        try await withServer(answering(good)) { server, transport in
            let answer = try await transport.post(
                server.url, "{\"a\":1}", [("Content-Type", "application/json"), ("X-Nonce", "a  b;"), ("X-Empty", "")])
            #expect(answer.status == 200)
            #expect(String(decoding: answer.body, as: UTF8.self) == "{\"a\":\"b c\"}\n")
            #expect(
                server.requests == [
                    """
                    POST /v1/device/challenge HTTP/1.1\r
                    Host: 127.0.0.1:\(server.port)\r
                    User-Agent: tenon/\(tenonVersion)\r
                    Accept: */*\r
                    Content-Type: application/json\r
                    X-Nonce: a  b;\r
                    X-Empty:\r
                    Content-Length: 7\r
                    \r
                    {"a":1}
                    """
                ])
        }
    }

    @Test(arguments: [
        ("GET", "", ""), ("DELETE", "", ""), ("POST", "", "Content-Length: 0\r\n"),
        ("PUT", "", "Content-Length: 0\r\n"),
        ("PATCH", "", "Content-Length: 0\r\n"), ("GET", "x", "Content-Length: 1\r\n"),
        ("DELETE", "x", "Content-Length: 1\r\n"), ("PUT", "x", "Content-Length: 1\r\n"),
        ("PATCH", "x", "Content-Length: 1\r\n"),
    ])
    func eachMethod(_ method: String, _ body: String, _ length: String) async throws {
        try await withServer(answering(good)) { server, transport in
            // The same handle, so that nothing of a request is left in the next.
            for _ in 0..<2 {
                let request = HTTPRequest(method: method, url: server.url + "?a=b", body: Array(body.utf8))
                #expect(try await transport.exchange(request, deadline: HTTPTransport.soon).status == 200)
                _ = try await transport.post(server.url, "other", [("X-Other", "1")])
            }
            let head = "Host: 127.0.0.1:\(server.port)\r\nUser-Agent: tenon/\(tenonVersion)\r\nAccept: */*\r\n"
            let expected = "\(method) /v1/device/challenge?a=b HTTP/1.1\r\n\(head)\(length)\r\n\(body)"
            try #require(server.requests.count == 4)
            #expect(server.requests[0] == expected)
            #expect(server.requests[2] == expected)
        }
    }

    /// The path that was signed is the path that is sent.
    @Test(arguments: ["/a/../b/./c", "/%2e%2E/", "//", "/?", "/a;b=c,d?e=f&g=%00", "/~'()*!$[]"])
    func theTargetIsSentAsItIs(_ target: String) async throws {
        try await withServer(answering(good)) { server in
            _ = try await HTTPTransport().post("http://127.0.0.1:\(server.port)\(target)")
            #expect(server.requests.first?.hasPrefix("POST \(target) HTTP/1.1\r\n") == true)
        }
    }

    @Test func binaryBody() async throws {
        let body = Array(0...255) as [UInt8]
        let arrived = Signal()
        try await withServer { connection in
            _ = connection.readHead()
            if connection.readAll(256) == body { arrived.fire() }
            connection.write(good)
        } _: { server in
            let request = HTTPRequest(method: "POST", url: server.url, body: body)
            _ = try await HTTPTransport().exchange(request, deadline: HTTPTransport.soon)
            await arrived.wait()
        }
    }

    /// `Expect: 100-continue` would wait for a second where the server does not know it.
    @Test func aLargeBodyIsNotAnnounced() async throws {
        try await withServer(answering(good)) { server in
            _ = try await HTTPTransport().post(server.url, String(decoding: large, as: UTF8.self))
            #expect(server.requests.first?.prefix(1000).contains("Expect") == false)
            #expect((server.requests.first?.utf8.count ?? 0) > large.count)
        }
    }

    static let injections: [(name: String, value: String)] = [
        ("X", "a\r\nY: b"), ("X", "a\nY: b"), ("X", "a\rY: b"), ("X", "a\0b"), ("X", "a\tb"), ("X", "é"),
        ("X", "\u{7f}"),
        ("X\r\nY", "a"), ("X\0", "a"), ("X:", "a"), ("X ", "a"), (" X", "a"), ("", "a"), ("é", "a"), ("X;", ""),
        ("X\n", ""),
        ("Host", "a"), ("content-LENGTH", "0"), ("Transfer-Encoding", "chunked"), ("Connection", "close"),
        ("Expect", "100-continue"), ("TE", "trailers"), ("Upgrade", "h2c"), ("Trailer", "X"), ("Keep-Alive", "1"),
        ("Proxy-Authorization", "Basic x"), ("Proxy-Connection", "close"),
    ]

    @Test(arguments: injections)
    func headerRefused(_ name: String, _ value: String) async throws {
        try await withServer(answering(good)) { server, transport in
            await #expect(throws: TenonError(.httpHeader, message: "")) {
                try await transport.post(server.url, "{}", [("X-First", "1"), (name, value)])
            }
            #expect(server.connectionCount == 0)
        }
    }

    @Test func aMessageHoldsNothingOfAHeader() async throws {
        let error = await #expect(throws: TenonError.self) {
            try await HTTPTransport().post("http://127.0.0.1:1/", "{}", [("Authorization", "secret\n")])
        }
        #expect(error?.description.contains("secret") == false)
    }

    @Test(arguments: ["", "get", "HEAD", "CONNECT", "OPTIONS", "TRACE", "POST ", "POST\r\nX: y", "POST\0"])
    func methodRefused(_ method: String) async throws {
        try await withServer(answering(good)) { server, transport in
            await #expect(throws: TenonError(.httpMethod, message: "")) {
                try await transport.exchange(
                    HTTPRequest(method: method, url: server.url), deadline: HTTPTransport.soon)
            }
            #expect(server.connectionCount == 0)
        }
    }

    @Test(
        arguments: [
            .init(caFile: ""), .init(caFile: "a\0b"), .init(unixSocket: ""), .init(unixSocket: "a\0"),
            .init(unixSocket: String(repeating: "a", count: 108)), .init(proxy: ""), .init(proxy: "a.example:1"),
            .init(proxy: "https://a.example:1"), .init(proxy: "socks5://a.example:1"),
            .init(proxy: "http://a.example:1/x"),
            .init(proxy: "http://a b@a.example:1"), .init(proxy: "http://a@b@a.example:1"), .init(proxy: "http://u:p@"),
            .init(proxy: "http://a.example:1\n"),
        ] as [HTTPTransport.Options])
    func optionRefused(_ options: HTTPTransport.Options) {
        #expect(throws: TenonError(.httpOption, message: "")) { try HTTPTransport(options) }
    }

    @Test func unixSocket() async throws {
        try await withFolder { folder in
            let path = folder + "/socket"
            try await withServer(path: path, answering(good)) { server in
                let transport = try HTTPTransport(.init(unixSocket: path))
                // Any host will do, because none is looked up.
                #expect(try await transport.post("http://authority.example/v1/device/verify").status == 200)
                #expect(server.requests.first?.contains("\r\nHost: authority.example\r\n") == true)
            }
            #expect(try await HTTPTransport(.init(unixSocket: path)).failure("http://localhost/") == .httpConnect)
        }
    }

    /// A child by fork(2) has the connections of its parent, and not its threads.
    @Test func aForkedChildIsRefused() async throws {
        let transport = try HTTPTransport()
        // Swift does not offer fork(2).
        let fork = unsafeBitCast(try #require(dlsym(nil, "fork")), to: (@convention(c) () -> pid_t).self)
        let child = fork()
        if child == 0 {
            alarm(20)
            _exit(await transport.failure("http://127.0.0.1:1/") == .forked ? 0 : 1)
        }
        var status: Int32 = -1
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        #expect(status == 0)
    }

    private func saysOneTimeTwice(_ answer: HTTPResponse) -> Bool {
        let waited = answer.received.sinceEpoch - answer.sent.sinceEpoch
        let really = answer.sent.continuous.duration(to: answer.received.continuous)
        return waited - really < .milliseconds(500) && really - waited < .milliseconds(500)
    }

    /// The times lie between those before and after, on both clocks.
    @Test func moments() async throws {
        try await withServer(answering(good)) { server in
            let before = ContinuousClock.now
            let answer = try await HTTPTransport().post(server.url)
            let after = ContinuousClock.now
            #expect(before < answer.sent.continuous && answer.sent.continuous < answer.received.continuous)
            #expect(answer.received.continuous < after)
            #expect(answer.sent.sinceEpoch > .seconds(1_700_000_000))
            // The two clocks are read one after the other, and the machine may do something else between them.
            var answers = [answer]
            while !answers.contains(where: saysOneTimeTwice), answers.count < 10 {
                answers.append(try await HTTPTransport().post(server.url))
            }
            #expect(answers.contains(where: saysOneTimeTwice))
        }
    }
}
