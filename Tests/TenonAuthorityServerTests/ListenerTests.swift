// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TenonHTTP
import TestFolders
import Testing

@testable import TenonAuthority
@testable import TenonAuthorityServer

/// Sockets: which clients may connect, and which addresses are already in use.
@Suite(.timeLimit(.minutes(1))) struct ListenerTests {
    private let scratch: ScratchFolder
    private var folder: String { scratch.path }

    init() throws { scratch = try ScratchFolder() }

    @Test func aUnixSocketIsItsOwnersAlone() async throws {
        let path = folder + "/admin.sock"
        do {
            let server = try HTTPServer(ListeningSocket(path: path, mode: 0o600)) { request, peer in
                AuthorityAnswer(
                    status: 200, body: Array("\(peer.address)|\(peer.user ?? 0)|\(request.target)".utf8))
            }
            var facts = stat()
            #expect(stat(path, &facts) == 0 && facts.st_mode & 0o777 == 0o600)
            let transport = try HTTPTransport(.init(unixSocket: path))
            let answer = try await transport.exchange(
                HTTPRequest(method: "GET", url: "http://localhost/x"), deadline: .now + .seconds(30))
            #expect(String(decoding: answer.body, as: UTF8.self) == "|\(geteuid())|/x")
            await server.stop()
        }
        #expect(access(path, F_OK) != 0)
    }

    @Test func theSocketOfADeadProcessIsReplaced() async throws {
        let path = folder + "/s"
        do {
            let former = try ListeningSocket(path: folder + "/former", mode: 0o600)
            #expect(former.descriptor >= 0 && link(folder + "/former", path) == 0)
        }
        #expect(access(path, F_OK) == 0)
        // A forked child of another test also holds the former socket until it executes its program.
        var socket: ListeningSocket?
        while socket == nil {
            socket = try? ListeningSocket(path: path, mode: 0o600)
            await Task.yield()
        }
        #expect(throws: TenonError(.listenerFailed, message: "")) { try ListeningSocket(path: path, mode: 0o600) }
        #expect(socket != nil)
    }

    @Test func whatIsNoSocketStays() async throws {
        let path = folder + "/file"
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        #expect(throws: TenonError(.listenerFailed, message: "")) { try ListeningSocket(path: path, mode: 0o600) }
        #expect(access(path, F_OK) == 0)
        let long = folder + "/" + String(repeating: "x", count: 108)
        #expect(throws: TenonError(.listenerFailed, message: "")) { try ListeningSocket(path: long, mode: 0o600) }
    }

    /// Somebody may send to a socket of another kind, although nobody can connect to it.
    @Test func aSocketOfAnotherKindStays() async throws {
        let path = folder + "/log"
        let other = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(other) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(other, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0)
        #expect(throws: TenonError(.listenerFailed, message: "")) { try ListeningSocket(path: path, mode: 0o600) }
        #expect(access(path, F_OK) == 0)
    }

    @Test func addresses() async throws {
        for (address, expected) in [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("::", "127.0.0.1")] {
            let server = try HTTPServer(ListeningSocket(address: address, port: 0)) { _, peer in
                AuthorityAnswer(status: 200, body: Array("\(peer.address)|\(peer.user == nil)".utf8))
            }
            let host = address == "::1" ? "[::1]" : "127.0.0.1"
            let answer = try await HTTPTransport().exchange(
                HTTPRequest(method: "GET", url: "http://\(host):\(server.socket.port)/"), deadline: .now + .seconds(30))
            #expect(String(decoding: answer.body, as: UTF8.self) == "\(expected)|true")
            await server.stop()
        }
    }

    @Test func aPortThatIsTaken() throws {
        let socket = try ListeningSocket(address: "127.0.0.1", port: 0)
        #expect(throws: TenonError(.listenerFailed, message: "")) {
            try ListeningSocket(address: "127.0.0.1", port: socket.port)
        }
        for address in ["192.0.2.1", "localhost", "", "1.2.3"] {
            #expect(throws: TenonError(.listenerFailed, message: "")) { try ListeningSocket(address: address, port: 0) }
        }
    }
}
