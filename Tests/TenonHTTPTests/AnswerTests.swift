// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonHTTP
import Testing

/// Answers of every shape.
@Suite(.timeLimit(.minutes(1))) struct AnswerTests {
    /// The server's bytes, and the result: a status and body, or a code.
    struct Shape: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answer: [UInt8]
        var status = 0
        var body: String?
        var code: TenonError.Code?

        init(_ name: String, _ answer: String, _ status: Int, _ body: String) {
            (testDescription, self.answer, self.status, self.body) = (name, Array(answer.utf8), status, body)
        }

        init(_ name: String, _ answer: String, _ code: TenonError.Code) {
            (testDescription, self.answer, self.code) = (name, Array(answer.utf8), code)
        }
    }

    static let ok = "HTTP/1.1 200 OK\r\n"
    static let chunked = "Transfer-Encoding: chunked\r\n"
    static let empty = "Content-Length: 0\r\n\r\n"
    static let shapes: [Shape] = [
        Shape("length", ok + "Content-Length: 2\r\n\r\n{}", 200, "{}"),
        Shape("no body", ok + empty, 200, ""),
        Shape("to the end", ok + "\r\n{}", 200, "{}"),
        Shape("HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\n{}", 200, "{}"),
        Shape("no reason", "HTTP/1.1 404\r\nContent-Length: 1\r\n\r\nx", 404, "x"),
        Shape("bytes behind the answer", ok + "Content-Length: 1\r\n\r\nxHTTP/1.1 500 X\r\n\r\n", 200, "x"),
        Shape("chunked", ok + chunked + "\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\n\r\n", 200, "abc"),
        Shape("trailers", ok + chunked + "\r\n1\r\na\r\n0\r\nContent-Length: 9\r\n\r\n", 200, "a"),
        Shape("a trailer that is none", ok + chunked + "\r\n1\r\na\r\n0\r\nHTTP/1.1 500 X\r\n\r\n", .httpMalformed),
        Shape("204", "HTTP/1.1 204 No Content\r\n\r\n", 204, ""),
        Shape(
            "redirect", "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 1\r\n\r\nx", 302, "x"),
        Shape("307", "HTTP/1.1 307 X\r\nLocation: /other\r\n" + empty, 307, ""),
        Shape("401", "HTTP/1.1 401 X\r\nWWW-Authenticate: Negotiate\r\n" + empty, 401, ""),
        Shape("500", "HTTP/1.1 500 X\r\nContent-Length: 2\r\n\r\n{}", 500, "{}"),
        Shape("100-continue", "HTTP/1.1 100 Continue\r\nX: y\r\n\r\n" + ok + "Content-Length: 1\r\n\r\nx", 200, "x"),
        Shape("103", "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 103 X\r\n\r\n" + ok + empty, 200, ""),
        Shape("gzip unasked", ok + "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nxx", 200, "xx"),
        Shape("same length twice", ok + "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx", .httpMalformed),
        Shape("64 KiB", ok + "Content-Length: 65536\r\n\r\n" + x(65_536), 200, x(65_536)),
        Shape("64 KiB to the end", ok + "\r\n" + x(65_536), 200, x(65_536)),
        Shape("64 KiB and a byte", ok + "Content-Length: 65537\r\n\r\n" + x(65_537), .httpTooLarge),
        Shape("64 KiB and a byte to the end", ok + "\r\n" + x(65_537), .httpTooLarge),
        Shape("large chunks", ok + chunked + "\r\n10001\r\n" + x(65_537) + "\r\n0\r\n\r\n", .httpTooLarge),
        Shape("length too long", ok + "Content-Length: 3\r\n\r\nxx", .httpNoAnswer),
        Shape("two lengths", ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx", .httpMalformed),
        Shape("a list of lengths", ok + "Content-Length: 1, 1\r\n\r\nx", .httpMalformed),
        Shape("length with a sign", ok + "Content-Length: +1\r\n\r\nx", .httpMalformed),
        Shape("negative length", ok + "Content-Length: -1\r\n\r\nx", .httpMalformed),
        Shape("length in hex", ok + "Content-Length: 0x1\r\n\r\nx", .httpMalformed),
        Shape("huge length", ok + "Content-Length: 99999999999999999999\r\n\r\nx", .httpMalformed),
        Shape("no length", ok + "Content-Length:\r\n\r\nx", .httpMalformed),
        Shape(
            "length and chunked", ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
            .httpMalformed),
        Shape("chunked twice", ok + chunked + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .httpMalformed),
        Shape("gzip, chunked", ok + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", .httpMalformed),
        Shape("identity", ok + "Transfer-Encoding: identity\r\n\r\nx", .httpMalformed),
        // libcurl reports this as a broken connection.
        Shape("no chunk", ok + chunked + "\r\nzz\r\n", .httpNoAnswer),
        Shape("chunk cut", ok + chunked + "\r\n5\r\nab", .httpNoAnswer),
        Shape("no last chunk", ok + chunked + "\r\n2\r\nab\r\n", .httpNoAnswer),
        Shape("nothing", "", .httpNoAnswer),
        Shape("no head's end", ok, .httpNoAnswer),
        Shape("HTTP/0.9", "{\"status\":\"ok\"}", .httpMalformed),
        Shape("garbage", "SSH-2.0-OpenSSH_9.2\r\n", .httpMalformed),
        Shape("no status", "HTTP/1.1 \r\n\r\n", .httpMalformed),
        Shape("status of letters", "HTTP/1.1 abc OK\r\n\r\n", .httpMalformed),
        Shape("status of two digits", "HTTP/1.1 20 OK\r\n" + empty, .httpMalformed),
        Shape("status of four digits", "HTTP/1.1 2000 OK\r\n" + empty, .httpMalformed),
        Shape("status 000", "HTTP/1.1 000 OK\r\n" + empty, .httpMalformed),
        Shape("status 600", "HTTP/1.1 600 OK\r\n" + empty, .httpMalformed),
        Shape("HTTP/2", "HTTP/2 200\r\n" + empty, .httpMalformed),
        Shape("HTTP/1.2", "HTTP/1.2 200 OK\r\n" + empty, .httpMalformed),
        Shape("HTTP/3.1", "HTTP/3.1 200 OK\r\n" + empty, .httpMalformed),
        Shape("ICY", "ICY 200 OK\r\n" + empty, .httpMalformed),
        Shape("only 100", "HTTP/1.1 100 Continue\r\n\r\n", .httpNoAnswer),
        Shape("NUL in a header", ok + "X: a\0b\r\n" + empty, .httpMalformed),
        Shape("NUL in a name", ok + "X\0: a\r\n" + empty, .httpMalformed),
        Shape("CR in a header", ok + "X: a\rY: b\r\n" + empty, .httpMalformed),
        Shape("a header folded", ok + "X: a\r\n b\r\n" + empty, .httpMalformed),
        Shape("no colon", ok + "X\r\n" + empty, .httpMalformed),
        Shape("no name", ok + ": x\r\n" + empty, .httpMalformed),
        Shape("space before the colon", ok + "X : x\r\n" + empty, .httpMalformed),
        Shape("16 KiB of headers", ok + "X: " + x(16_384) + "\r\n" + empty, .httpTooLarge),
        Shape("1 MiB of headers", ok + String(repeating: "X: y\r\n", count: 1 << 18) + "\r\n", .httpTooLarge),
        Shape("one line of 1 MiB", ok + "X: " + x(1 << 20) + "\r\n\r\n", .httpTooLarge),
        Shape("a status line of 1 MiB", "HTTP/1.1 200 " + x(1 << 20) + "\r\n\r\n", .httpTooLarge),
        Shape("101 headers", ok + String(repeating: "X: y\r\n", count: 101) + "\r\n", .httpTooLarge),
        Shape("100 without end", String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 100_000), .httpTooLarge),
        Shape(
            "trailers without end", ok + chunked + "\r\n0\r\n" + String(repeating: "X: y\r\n", count: 1 << 18),
            .httpTooLarge),
    ]

    @Test(arguments: shapes)
    func shape(_ shape: Shape) async throws {
        try await withServer(answeringOnce(shape.answer)) { server, transport in
            do throws(TenonError) {
                let answer = try await transport.post(server.url)
                #expect(answer.status == shape.status)
                #expect(String(decoding: answer.body, as: UTF8.self) == shape.body)
            } catch {
                #expect(error.code == shape.code)
                #expect(error.code.category == .unknown)
            }
            #expect(server.requests.count == 1)
        }
    }

    /// If redirects were followed, the next server would get the request, and its answer would count as the service's.
    @Test("W28: no redirect is followed", arguments: [301, 302, 303, 307, 308])
    func w28_noRedirectIsFollowed(_ status: Int) async throws {
        try await withServer(answeringOnce(good.utf8)) { other in
            let answer = "HTTP/1.1 \(status) X\r\nLocation: \(other.url)\r\nContent-Length: 0\r\n\r\n"
            try await withServer(answeringOnce(answer.utf8)) { server, transport in
                let given = try await transport.post(server.url).status
                #expect(given == status && server.requests.count == 1)
            }
            #expect(other.connectionCount == 0)
        }
    }

    /// The largest accepted answer has 64 KiB; nothing of a longer one is kept.
    @Test("W28: an answer has a limit", arguments: [65_536, 65_537, 1 << 24])
    func w28_anAnswerHasALimit(_ length: Int) async throws {
        let answer = Self.ok + "\r\n" + Self.x(length)
        try await withServer(answeringOnce(answer.utf8)) { server, transport in
            #expect(await transport.failure(server.url) == (length == 65_536 ? nil : .httpTooLarge))
        }
    }

    @Test func switchingProtocolsIsNoAnswer() async throws {
        try await withServer(answeringOnce("HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\n\r\nPRI * HTTP/2.0\r\n\r\n".utf8))
        { server in
            let code = try await HTTPTransport().failure(server.url)
            #expect(code?.category == .unknown)
        }
    }

    @Test func headers() async throws {
        let head =
            "Set-Cookie: a=b\r\nX-Two: 1\r\nx-two:\t 2 \r\nX-Colon: a:b\r\nX-None:\r\nX-Latin: \u{e9}\r\nContent-Length: 0\r\n\r\n"
        try await withServer(answering(Self.ok + head)) { server, transport in
            let answer = try await transport.post(server.url)
            #expect(answer.values(of: "X-TWO") == ["1", "2"])
            #expect(answer.values(of: "x-colon") == ["a:b"])
            #expect(answer.values(of: "X-None") == [""])
            #expect(answer.values(of: "X-Latin") == ["é"])
            #expect(answer.values(of: "X-Other").isEmpty)
            #expect(
                answer.headers.map(\.name) == [
                    "Set-Cookie", "X-Two", "x-two", "X-Colon", "X-None", "X-Latin", "Content-Length",
                ])
            // No cookie comes back.
            _ = try await transport.post(server.url)
            #expect(server.requests.allSatisfy { !$0.contains("Cookie") })
        }
    }

    @Test func aHundredHeaders() async throws {
        let head = String(repeating: "X: y\r\n", count: 99) + "Content-Length: 0\r\n\r\n"
        try await withServer(answering(Self.ok + head)) { server in
            let answer = try await HTTPTransport().post(server.url)
            #expect(answer.values(of: "x").count == 99)
        }
    }

    /// A head that is not UTF-8 is still accepted as text.
    @Test func aHeaderOfAnyBytes() async throws {
        let answer = Array((Self.ok + "X: ").utf8) + [0xe9, 0xff] + Array("\r\nContent-Length: 0\r\n\r\n".utf8)
        try await withServer(answeringOnce(answer)) { server in
            let answer = try await HTTPTransport().post(server.url)
            #expect(answer.values(of: "X") == ["\u{fffd}\u{fffd}"])
        }
    }

    private static func x(_ count: Int) -> String { String(repeating: "x", count: count) }
}
