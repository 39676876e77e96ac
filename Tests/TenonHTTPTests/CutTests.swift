// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Tenon
import TenonHTTP
import Testing

/// The connection ends too early, by a close or by a reset.
@Suite(.timeLimit(.minutes(1))) struct CutTests {
    @Test(arguments: [false, true])
    func withinTheAnswer(_ resets: Bool) async throws {
        let answer = Array(good.utf8)
        let count = Atomic(0)
        try await withServer { connection in
            _ = connection.readRequest()
            connection.write(answer.prefix(count.load(ordering: .relaxed)))
            if resets { connection.reset() }
        } _: { server, transport in
            for length in 0..<answer.count {
                count.store(length, ordering: .relaxed)
                #expect(await transport.failure(server.url) == .httpNoAnswer, "\(length) bytes")
            }
            #expect(server.requests.count == answer.count)
        }
    }

    @Test(arguments: [false, true])
    func withinTheRequest(_ resets: Bool) async throws {
        let whole = try await withServer(answering(good)) { server in
            _ = try await HTTPTransport().post(server.url)
            return try #require(server.requests.first).utf8.count
        }
        let count = Atomic(0)
        try await withServer { connection in
            _ = connection.readAll(count.load(ordering: .relaxed))
            if resets { connection.reset() }
        } _: { server, transport in
            for length in 0...whole {
                count.store(length, ordering: .relaxed)
                let code = await transport.failure(server.url)
                // A connection that is cut at once may end before anything is sent.
                let isUnsent = length == 0 && code == .httpConnect
                #expect(code == .httpNoAnswer || isUnsent, "\(length) bytes")
            }
            #expect(server.connectionCount == whole + 1)
        }
    }

    @Test func withinALargeRequest() async throws {
        try await withServer { connection in
            _ = connection.readAll(1 << 20)
            connection.reset()
        } _: { server, transport in
            #expect(await transport.failure(server.url, large) == .httpNoAnswer)
            #expect(server.connectionCount == 1)
        }
    }

    /// A kept connection dies during the second request, which libcurl by itself would send again.
    @Test(arguments: [false, true])
    func aRequestIsSentOnce(_ resets: Bool) async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.write(good)
            _ = connection.readRequest()
            if resets { connection.reset() }
        } _: { server, transport in
            // On a busy machine a kept connection may be too old to be used again: then there is no cut.
            var (number, cuts) = (0, 0)
            while cuts < 3 {
                let code = await transport.failure(server.url)
                number += 1
                cuts += code == .httpNoAnswer ? 1 : 0
                #expect(code == nil || code == .httpNoAnswer)
                try #require(server.requests.count == number)
            }
        }
    }

    /// A kept connection that the server has visibly closed is not used.
    @Test func aClosedConnectionIsSeen() async throws {
        let closed = Signal()
        try await withServer { connection in
            _ = connection.readRequest()
            connection.write(good)
            connection.close()
            closed.fire()
        } _: { server, transport in
            for number in 1...20 {
                let status = try await transport.post(server.url).status
                await closed.wait()
                #expect(status == 200)
                #expect(server.requests.count == number)
            }
            #expect(server.connectionCount == 20)
        }
    }

    @Test(arguments: [good, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"])
    func aConnectionIsKeptUnlessTheServerSaysSo(_ answer: String) async throws {
        try await withServer(answering(answer)) { server, transport in
            for _ in 0..<100 { _ = try await transport.post(server.url) }
            #expect(server.connectionCount == (answer == good ? 1 : 100))
        }
    }

    /// Bytes behind an answer do not belong to the next one.
    @Test func anAnswerThatNobodyAskedFor() async throws {
        try await withServer { connection in
            while connection.readRequest() != nil {
                connection.write(good + "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            }
        } _: { server, transport in
            for _ in 0..<10 {
                let status = try await transport.post(server.url).status
                #expect(status == 200)
            }
        }
    }

    /// An answer before the body was read, with and without an end of the connection.
    @Test(arguments: [("200 OK", ""), ("413 Too Large", ""), ("413 Too Large", "Connection: close\r\n")])
    func answeredEarly(_ status: String, _ header: String) async throws {
        try await withServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 \(status)\r\n\(header)Content-Length: 0\r\n\r\n")
            connection.waitForEnd()
        } _: { server in
            do {
                let transport = try HTTPTransport()
                let answer = try await transport.post(server.url, String(decoding: large, as: UTF8.self))
                #expect(answer.status == Int(status.prefix(3)))
            }
            #expect(server.connectionCount == 1)
        }
    }

    @Test func nobodyListens() async throws {
        let url = try await withServer(answering(good)) { $0.url }
        #expect(try await HTTPTransport().failure(url) == .httpConnect)
    }

    @Test func noAddress() async throws {
        #expect(try await HTTPTransport().failure("https://nowhere.invalid/") == .httpResolve)
    }
}
