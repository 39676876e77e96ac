// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Testing

@testable import TenonAuthority
@testable import TenonAuthorityServer

/// The requests that reached the function behind a server.
final class Arrivals: Sendable {
    private let state = Mutex([AuthorityRequest]())

    func add(_ request: AuthorityRequest) { state.withLock { $0.append(request) } }

    var all: [AuthorityRequest] { state.withLock { $0 } }

    var lines: [String] { all.map { "\($0.method) \($0.target) \(String(decoding: $0.body, as: UTF8.self))" } }
}

/// Runs a test against a server of its own on a free port, which answers 200 and the target.
func withServer(
    _ options: HTTPServer.Options = .init(),
    answer: @escaping @Sendable (AuthorityRequest) async -> AuthorityAnswer = {
        AuthorityAnswer(status: 200, headers: [("X-Test", "1")], body: Array($0.target.utf8))
    },
    _ body: (HTTPServer, Arrivals) async throws -> Void
) async throws {
    let arrivals = Arrivals()
    let socket = try ListeningSocket(address: "127.0.0.1", port: 0)
    let server = try HTTPServer(socket, options) { request, _ in
        arrivals.add(request)
        return await answer(request)
    }
    do {
        try await body(server, arrivals)
    } catch {
        await server.stop()
        throw error
    }
    await server.stop()
}
