// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TenonHTTP
import Testing

func withServer<Value>(
    path: String? = nil, _ script: @escaping @Sendable (Connection) -> Void,
    _ body: (Server) async throws -> Value
) async throws -> Value {
    let server = try Server(path: path, script)
    defer { server.stop() }
    return try await body(server)
}

/// The same, with a transport.
func withServer<Value>(
    _ script: @escaping @Sendable (Connection) -> Void, _ body: (Server, HTTPTransport) async throws -> Value
) async throws -> Value {
    try await withServer(script) { server in try await body(server, HTTPTransport()) }
}

/// Answers each request with these bytes, on one connection.
func answering(_ answer: String) -> @Sendable (Connection) -> Void {
    { connection in
        while connection.readRequest() != nil, connection.write(answer) {}
    }
}

func answeringOnce(_ answer: some Sequence<UInt8> & Sendable) -> @Sendable (Connection) -> Void {
    { connection in
        _ = connection.readRequest()
        connection.write(answer)
    }
}

/// More bytes than the buffers on the way to a server hold.
let large = [UInt8](repeating: UInt8(ascii: "x"), count: 16 << 20)

let good = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{\"a\":\"b c\"}\n"

extension HTTPTransport {
    /// The longest time for a test; each test checks its own deadline.
    static var soon: ContinuousClock.Instant { .now + .seconds(50) }

    func post(
        _ url: String, _ body: String = "{}", _ headers: [(name: String, value: String)] = []
    ) async throws(TenonError) -> HTTPResponse {
        try await exchange(
            HTTPRequest(method: "POST", url: url, headers: headers, body: Array(body.utf8)), deadline: Self.soon)
    }

    /// The code with which a POST fails; nil when it does not.
    func failure(
        _ url: String, _ body: some Sequence<UInt8> & Sendable = "{}".utf8, deadline: ContinuousClock.Instant = soon
    ) async -> TenonError.Code? {
        do throws(TenonError) {
            _ = try await exchange(HTTPRequest(method: "POST", url: url, body: Array(body)), deadline: deadline)
            return nil
        } catch {
            return error.code
        }
    }

    /// The code with which a POST fails at a deadline soon after it was sent. On a busy machine, a brief time may end
    /// before sending; then the next try gets more time.
    static func lateFailure(_ url: String, _ body: [UInt8] = []) async throws -> TenonError.Code? {
        var time = Duration.milliseconds(100)
        while true {
            let code = try await HTTPTransport().failure(url, body, deadline: .now + time)
            if code != .httpConnectTimeout { return code }
            time *= 2
        }
    }
}

/// An event that a thread or task reports to a task.
final class Signal: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func fire() { continuation.yield() }

    func wait() async {
        for await _ in stream { return }
    }
}

/// Runs a program and gives its exit status.
func run(_ program: String, _ arguments: String...) -> Int32 {
    var child = pid_t()
    var status: Int32 = 0
    let words = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    guard posix_spawn(&child, program, nil, nil, words, environ) == 0 else { return -1 }
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    return status
}
