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

    /// The stores are closed after the last answer: nobody is told that they are closed.
    @Test func theStoresOutlastTheRequests() async throws {
        var asking: Task<Set<Int>, Never>?
        let limits = #", "limits": {"challenges_per_address": 1000000, "per_address_per_minute": 1000000}"#
        try await withAuthority(limits) { port, _ in
            let clients = try (0..<16).map { _ in try RawClient(port: port) }
            asking = Task {
                await withTaskGroup(of: Set<Int>.self) { group in
                    for client in clients { group.addTask { await Self.askOnAndOn(client) } }
                    return await group.reduce(into: []) { $0.formUnion($1) }
                }
            }
            for _ in 0..<8 { #expect(await (try RawClient(port: port)).get("/health") == [200]) }
        }
        #expect(await asking?.value == [200])
    }

    /// The statuses of what comes until the connection ends.
    private static func askOnAndOn(_ client: RawClient) async -> Set<Int> {
        var statuses: Set<Int> = []
        while true {
            let status = await client.post("/v1/device/challenge", Array(#"{"app_id":"open"}"#.utf8)).status
            guard status != 0 else { return statuses }
            statuses.insert(status)
        }
    }
}
