// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Tenon
import Testing

@testable import TenonAuthority
@testable import TenonAuthorityServer

/// A stop while clients send requests.
@Suite(.timeLimit(.minutes(2))) struct StopTests {
    /// Every request that was handed over is answered: a request is carried out and answered, or neither.
    @Test(arguments: ["GET", "POST"])
    func whatIsExecutedIsAnswered(_ method: String) async throws {
        var (executed, answered) = (0, 0)
        for round in 0..<60 {
            let arrivals = Arrivals()
            let socket = try ListeningSocket(address: "127.0.0.1", port: 0)
            let server = try HTTPServer(socket, .init(threads: 2)) { request, _ in
                arrivals.add(request)
                for _ in 0..<(round % 7) { await Task.yield() }
                return AuthorityAnswer(status: 200, body: Array("done".utf8))
            }
            let clients = try (0..<24).map { _ in try RawClient(port: server.socket.port) }
            let body = method == "POST" ? "Content-Length: 2\r\n\r\n{}" : "\r\n"
            let text = "\(method) /x HTTP/1.1\r\nHost: a\r\n" + body
            // Some clients have asked before, so that their connections are known.
            for client in clients.prefix(12) {
                client.send(Array(text.utf8))
                if await client.readAnswer().hasPrefix("HTTP/1.1 200") { answered += 1 }
            }
            for client in clients { client.send(Array(text.utf8)) }
            async let stopped: Void = server.stop()
            for client in clients where await client.readAnswer().hasPrefix("HTTP/1.1 200") { answered += 1 }
            await stopped
            executed += arrivals.all.count
        }
        #expect(executed == answered)
    }
}
