// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import TenonAuthority
@testable import TenonAuthorityServer

/// Requests of every shape, byte for byte; another one stands behind each, so that one that is read as shorter or
/// longer than it is shows.
@Suite(.timeLimit(.minutes(1))) struct FramingTests {
    struct Shape: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let request: String
        let statuses: [Int]
        let arrived: [String]

        /// Checks that a request is accepted unchanged, and then the one behind it.
        static func taken(_ name: String, _ request: String, _ arrived: String) -> Shape {
            Shape(
                testDescription: name, request: request, statuses: [200, 200], arrived: [arrived, FramingTests.last])
        }

        /// Checks that a request is refused and its connection ended.
        static func refused(_ name: String, _ status: Int, _ request: String) -> Shape {
            Shape(testDescription: name, request: request, statuses: [status], arrived: [])
        }
    }

    static let last = "GET /last "
    static let behind = "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    static let post = "POST /x HTTP/1.1\r\nHost: a\r\n"

    static let shapes: [Shape] = [
        .taken("GET", "GET /x?y=%20z HTTP/1.1\r\nHost: a\r\n\r\n", "GET /x?y=%20z "),
        .taken("POST", post + "Content-Length: 4\r\n\r\nbody", "POST /x body"),
        .taken("POST of nothing", post + "Content-Length: 0\r\n\r\n", "POST /x "),
        .taken("PUT", "PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nb", "PUT /x b"),
        .taken("DELETE", "DELETE /x HTTP/1.1\r\nHost: a\r\n\r\n", "DELETE /x "),
        .taken("GET of nothing", "GET /x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", "GET /x "),
        .taken("a dotted path", "GET /a/../b//%2e%2E/;x HTTP/1.1\r\nHost: a\r\n\r\n", "GET /a/../b//%2e%2E/;x "),
        .taken("a plus and an escape", "GET /a+b%00%41?%26=+ HTTP/1.1\r\nHost: a\r\n\r\n", "GET /a+b%00%41?%26=+ "),
        .taken("32 KiB", post + "Content-Length: 32768\r\n\r\n" + x(32_768), "POST /x " + x(32_768)),
        .refused("32 KiB and a byte", 413, post + "Content-Length: 32769\r\n\r\n" + x(32_769)),
        .refused("a length of 9 digits", 413, post + "Content-Length: 999999999\r\n\r\n"),
        .refused("a length of 10 digits", 400, post + "Content-Length: 1000000000\r\n\r\n"),
        .refused("length and chunks", 400, post + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        .refused("chunks and length", 400, post + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"),
        .refused("chunks", 400, post + "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"),
        .refused("chunks in capitals", 400, post + "TRANSFER-ENCODING: CHUNKED\r\n\r\n0\r\n\r\n"),
        .refused("identity", 400, post + "Transfer-Encoding: identity\r\nContent-Length: 1\r\n\r\nx"),
        .refused("an unknown encoding", 400, post + "Transfer-Encoding: x\r\nContent-Length: 1\r\n\r\nx"),
        .refused("an encoding without a value", 400, post + "Transfer-Encoding:\r\nContent-Length: 1\r\n\r\nx"),
        // Others may read these in another way: RFC 9112, 2.2 lets a reader take a line feed alone for the end of a
        // line.
        .refused("line feeds alone", 400, "POST /x HTTP/1.1\nHost: a\nContent-Length: 4\n\nbody"),
        .refused("a line feed behind the version", 400, "GET /x HTTP/1.1\nHost: a\r\n\r\n"),
        .refused("a line feed behind a header", 400, "GET /x HTTP/1.1\r\nHost: a\nX: y\r\n\r\n"),
        .refused("a line feed behind the last header", 400, post + "Content-Length: 4\n\r\nbody"),
        .refused("a NUL in a length", 400, post + "Content-Length: 4\0 5\r\n\r\nbody"),
        .refused("a NUL behind a length", 400, post + "X: y\r\nContent-Length: 4\0\r\n\r\nbody"),
        .refused("a NUL in a value", 400, "GET /x HTTP/1.1\r\nHost: a\0b\r\nX: y\r\n\r\n"),
        .refused("two spaces behind the method", 400, "GET  /x HTTP/1.1\r\nHost: a\r\n\r\n"),
        .refused("two spaces before a length", 400, post + "Content-Length:  4\r\n\r\nbody"),
        .refused("a tab before a length", 400, post + "Content-Length:\t4\r\n\r\nbody"),
        .refused("a folded length", 400, post + "Content-Length:\r\n 4\r\n\r\nbody"),
        .refused("two lengths", 400, post + "Content-Length: 4\r\nContent-Length: 5\r\n\r\nbodyx"),
        .refused("the same length twice", 400, post + "Content-Length: 4\r\nContent-Length: 4\r\n\r\nbody"),
        .refused("a list of lengths", 400, post + "Content-Length: 4, 4\r\n\r\nbody"),
        .refused("a length with a plus", 400, post + "Content-Length: +4\r\n\r\nbody"),
        .refused("a length with a minus", 400, post + "Content-Length: -4\r\n\r\nbody"),
        .refused("a length in hex", 400, post + "Content-Length: 0x4\r\n\r\nbody"),
        .refused("a length with a tail", 400, post + "Content-Length: 4a\r\n\r\nbody"),
        .refused("a length of no digits", 400, post + "Content-Length: \r\n\r\nbody"),
        .refused("a huge length", 413, post + "Content-Length: 99999999999999999999999\r\n\r\n"),
        .refused("a space before the colon", 400, post + "Content-Length : 4\r\n\r\nbody"),
        .refused("a tab before the colon", 400, post + "Content-Length\t: 4\r\n\r\nbody"),
        .refused("lengths in two spellings", 400, post + "content-length: 4\r\nCONTENT-LENGTH: 5\r\n\r\nbodyx"),
        .refused("a length behind a comma", 400, post + "Content-Length: 4,\r\n\r\nbody"),
        .refused("a length and a space in it", 400, post + "Content-Length: 4 4\r\n\r\nbody"),
        .refused("chunks behind a space", 400, post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"),
        .refused("chunks behind a tab", 400, post + "Transfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n"),
        .refused("chunks behind another control", 400, post + "Transfer-Encoding:\u{b}chunked\r\n\r\n0\r\n\r\n"),
        .refused("chunks in a list", 400, post + "Transfer-Encoding: x, chunked\r\nContent-Length: 1\r\n\r\nx"),
        .refused("a length in hidden capitals", 411, post + "Content\u{5f}Length: 4\r\n\r\nbody"),
        .refused("an upgrade with a body of its own", 400, post + "Upgrade: h2c\r\nTransfer-Encoding: chunked\r\n\r\n"),
        .refused("no length", 411, post + "\r\n"),
        .refused("a GET with a body", 400, "GET /x HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody"),
        .refused("a GET with chunks", 400, "GET /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        .refused("no Host", 400, "GET /x HTTP/1.1\r\n\r\n"),
        .refused("two Hosts", 400, "GET /x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
        .refused("a name that is no token", 400, "GET /x HTTP/1.1\r\nHost: a\r\nX(y): z\r\n\r\n"),
        .refused("a name of spaces", 400, "GET /x HTTP/1.1\r\nHost: a\r\nX y: z\r\n\r\n"),
        .refused("no colon", 400, "GET /x HTTP/1.1\r\nHost: a\r\nX\r\n\r\n"),
        .refused("a control in a value", 400, "GET /x HTTP/1.1\r\nHost: a\r\nX: a\u{1}b\r\n\r\n"),
        .refused("another method", 501, "BREW /x HTTP/1.1\r\nHost: a\r\n\r\n"),
        .refused("CONNECT", 400, "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"),
        .refused("OPTIONS *", 400, "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"),
        .refused("an absolute target", 400, "GET http://a/x HTTP/1.1\r\nHost: a\r\n\r\n"),
        .refused("a target with a fragment", 400, "GET /x#y HTTP/1.1\r\nHost: a\r\n\r\n"),
        .refused("a target that is not ASCII", 400, "GET /é HTTP/1.1\r\nHost: a\r\n\r\n"),
        .refused("HTTP/1.0", 505, "GET /x HTTP/1.0\r\nHost: a\r\n\r\n"),
        .refused("a header of 8 KiB", 431, "GET /x HTTP/1.1\r\nHost: a\r\nX: " + x(8_192) + "\r\n\r\n"),
    ]

    @Test(arguments: shapes)
    func shape(_ shape: Shape) async throws {
        try await withServer { server, arrivals in
            let answers = await (try RawClient(port: server.socket.port)).talk(shape.request + Self.behind)
            // When libmicrohttpd itself refuses a request, it sends the head twice, and ends the connection.
            let isRefused = shape.arrived.isEmpty
            #expect((isRefused ? Array(statuses(answers).prefix(1)) : statuses(answers)) == shape.statuses)
            #expect(!isRefused || !statuses(answers).contains(200))
            #expect(arrivals.lines == shape.arrived)
        }
    }

    /// Anything but HTTP/1.1 is refused, whatever the answer is.
    @Test(arguments: [
        "GET /x HTTP/2.0\r\nHost: a\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET /x\r\n\r\n",
        "GET  /x HTTP/1.1\r\n\r\n", "GET /x  HTTP/1.1\r\nHost: a\r\n\r\n",
        "/x HTTP/1.1\r\n\r\n", "\u{16}\u{3}\u{1}\r\n\r\n", "GET /x HTTP/1.1 \r\nHost: a\r\n\r\n",
        "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: a\r\nX: y\r\n Content-Length: 4\r\n\r\n",
        "GET /x HTTP/1.1\r\n Host: a\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: a\rX: y\r\n\r\n", "GET /x\0y HTTP/1.1\r\nHost: a\r\n\r\n",
        "\0GET /x HTTP/1.1\r\nHost: a\r\n\r\n",
    ])
    func noHTTP(_ request: String) async throws {
        try await withServer { server, arrivals in
            let answers = await (try RawClient(port: server.socket.port)).talk(request + Self.behind)
            #expect(!answers.contains("200 OK"))
            #expect(arrivals.lines.isEmpty)
        }
    }

    @Test func theWholeRequest() async throws {
        try await withServer { server, arrivals in
            let client = try RawClient(port: server.socket.port)
            client.send(Self.post + "x-Two: 1\r\nX-TWO:  2 \t\r\nX-None:\r\nContent-Length: 3\r\n\r\na\0b")
            let answer = await client.readAnswer()
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(answer.contains("\r\nX-Test: 1\r\n") && answer.hasSuffix("\r\n\r\n/x"))
            let request = try #require(arrivals.all.first)
            #expect(request.body == [0x61, 0, 0x62])
            #expect(
                request.headers.map { "\($0.name)=\($0.value)" } == [
                    "Host=a", "x-Two=1", "X-TWO=2", "X-None=", "Content-Length=3",
                ])
        }
    }

    @Test func oneByteAtATime() async throws {
        // Other tests may occupy the pool for long between two bytes.
        try await withServer(.init(seconds: 600)) { server, arrivals in
            let client = try RawClient(port: server.socket.port)
            for byte in (Self.post + "Content-Length: 4\r\n\r\nbody").utf8 {
                client.send(String(decoding: [byte], as: UTF8.self))
                await Task.yield()
            }
            #expect(await client.readAnswer().hasSuffix("/x"))
            #expect(arrivals.lines == ["POST /x body"])
        }
    }

    /// The connection ends at each byte: an incomplete request is not handed over.
    @Test func cutAtEachByte() async throws {
        try await withServer { server, arrivals in
            let request = Array((Self.post + "Content-Length: 4\r\n\r\nbody").utf8)
            for count in 0..<request.count {
                try RawClient(port: server.socket.port).send(String(decoding: request[..<count], as: UTF8.self))
            }
            let client = try RawClient(port: server.socket.port)
            #expect(statuses(await client.talk(Self.behind)) == [200])
            #expect(arrivals.lines == [Self.last])
        }
    }

    @Test func expectContinue() async throws {
        try await withServer { server, _ in
            let client = try RawClient(port: server.socket.port)
            client.send(Self.post + "Expect: 100-continue\r\nContent-Length: 4\r\n\r\n")
            #expect(await client.readAnswer() == "HTTP/1.1 100 Continue\r\n\r\n")
            client.send("body")
            #expect(statuses(await client.readAnswer()) == [200])
        }
    }

    @Test func aRefusalIsJSON() async throws {
        try await withServer { server, _ in
            let answer = await (try RawClient(port: server.socket.port)).talk(Self.post + "\r\n")
            #expect(answer.contains("\r\nContent-Type: application/json\r\n"))
            #expect(
                answer.hasSuffix(
                    "{\"error_code\":\"INVALID_REQUEST\",\"message\":\"The body needs a Content-Length.\"}"))
        }
    }

    private static func x(_ count: Int) -> String { String(repeating: "x", count: count) }
}
