// SPDX-License-Identifier: Apache-2.0
import Tenon
import TestFolders
import Testing

@testable import TenonAuthority
@testable import TenonAuthorityServer

/// Runs a test against an authority of its own, with an app `open` that asks for no attestation, on a free port.
///
/// - Parameter apps: more apps, after a comma.
func withAuthority(
    _ more: String = "", apps: String = "", _ body: (_ port: Int, _ folder: String) async throws -> Void
) async throws {
    try await withFolder { folder in
        let text = """
            {"origins": ["http://127.0.0.1:8420"], "public": {"address": "127.0.0.1", "port": 0},
             "apps": [{"id": "open", "require_attestation": false}\(apps)]\(more)}
            """
        let authority = try await RunningAuthority(
            Configuration(parsing: Array(text.utf8), services: HostedService.all),
            in: AuthorityFolder(folder + "/state"))
        do {
            try await body(
                try #require(authority.url.split(separator: ":").last.flatMap { Int($0) }), folder + "/state")
        } catch {
            await authority.stop()
            throw error
        }
        await authority.stop()
    }
}

/// The number of each answer that clients get who ask at once.
func atOnce(
    _ clients: [(RawClient, [UInt8])], _ ask: @escaping @Sendable (RawClient, [UInt8]) async -> String
) async throws -> [String: Int] {
    await withTaskGroup(of: String.self) { group in
        for (client, body) in clients { group.addTask { await ask(client, body) } }
        return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
}

extension RawClient {
    /// Asks, and returns the statuses of what comes.
    func get(_ path: String = "/x") async -> [Int] {
        send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
        return statuses(await readAnswer())
    }

    /// Posts a body unchanged, and returns the body of the answer.
    func post(_ path: String, _ body: [UInt8]) async -> (status: Int, json: JSON) {
        send(Array("POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body)
        return RawClient.parsed(await readAnswer())
    }

    static func parsed(_ answer: String) -> (status: Int, json: JSON) {
        let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1)
        let json = parts.count == 2 ? try? JSON(parsing: Array(parts[1].utf8)) : nil
        return (statuses(answer).first ?? 0, json ?? .null)
    }
}

enum Routes {
    /// All routes of the program.
    static func all() throws -> [ServiceRoute] {
        let text = #"{"origins": ["http://127.0.0.1:8420"], "apps": [{"id": "open", "require_attestation": false}]}"#
        let configuration = try Configuration(parsing: Array(text.utf8), services: HostedService.all)
        return RouteTable(AuthorityEngine.routes, configuration).entries.map(\.route)
    }
}
