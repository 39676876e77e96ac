// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import Tenon
import TenonHTTP
import Testing

/// Deadlines and cancellation, in each phase of an exchange.
@Suite(.timeLimit(.minutes(1))) struct TimeTests {
    static let brief = Duration.milliseconds(150)

    /// Servers that go on, and never come to the end of an answer.
    static let endless: KeyValuePairs<String, @Sendable (Connection) -> Void> = [
        "silence": { $0.waitForEnd() },
        "a drip of the body": { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n")
            while connection.write("x") { usleep(1000) }
        },
        "a drip of the head": { connection in
            _ = connection.readRequest()
            while connection.write("H") { usleep(1000) }
        },
        "nothing of the body is read": { connection in
            _ = connection.read(1)
            Signal.never()
        },
    ]

    @Test(arguments: endless.map(\.key))
    func theDeadlinePasses(_ name: String) async throws {
        let script = try #require(Self.endless.first { $0.key == name }).value
        try await withServer(script) { server in
            let code = try await HTTPTransport.lateFailure(server.url, name.hasPrefix("nothing") ? large : [])
            // If the bytes cannot begin a status line, it fails earlier.
            #expect(code == .httpTimeout || name == "a drip of the head" && code == .httpMalformed)
        }
    }

    /// The limit for connecting does not limit the answer.
    @Test(arguments: [false, true])
    func silenceUntilTheTransportsOwnTimeout(_ isLongerThanToConnect: Bool) async throws {
        try await withServer {
            $0.waitForEnd()
        } _: { server in
            var (time, isWhole) = (Self.brief, false)
            var code = TenonError.Code?.some(.httpConnectTimeout)
            while code == .httpConnectTimeout {
                var options = HTTPTransport.Options(exchangeTimeout: time)
                if isLongerThanToConnect { options = .init(connectTimeout: time, exchangeTimeout: time * 3) }
                let start = ContinuousClock.now
                code = try await HTTPTransport(options).failure(server.url)
                isWhole = ContinuousClock.now - start >= (isLongerThanToConnect ? time * 3 : time)
                time *= 2
            }
            #expect(code == .httpTimeout && isWhole)
        }
    }

    @Test func whileConnecting() async throws {
        try await withFullBacklog { url, _ in
            let options = HTTPTransport.Options(connectTimeout: Self.brief)
            let transports = [try HTTPTransport(options), try HTTPTransport()]
            #expect(await transports[0].failure(url) == .httpConnectTimeout)
            #expect(await transports[1].failure(url, deadline: .now + Self.brief) == .httpConnectTimeout)
        }
    }

    @Test(arguments: [.zero, .seconds(-1), .seconds(-1_000_000_000), .seconds(Int64.min / 4)] as [Duration])
    func theTimeIsOver(_ left: Duration) async throws {
        try await withServer(answering(good)) { server, transport in
            #expect(await transport.failure(server.url, deadline: .now + left) == .httpConnectTimeout)
            #expect(server.connectionCount == 0)
        }
    }

    @Test func aDeadlineFarAway() async throws {
        try await withServer(answering(good)) { server in
            let options = HTTPTransport.Options(
                connectTimeout: .seconds(Int64.max / 4), exchangeTimeout: .seconds(Int64.max / 4))
            let code = try await HTTPTransport(options).failure(server.url, deadline: .now + .seconds(Int64.max / 4))
            #expect(code == nil)
        }
    }

    /// Runs a body while a call has the connection, which is cancelled then.
    private func whileAnotherRuns(_ body: (HTTPTransport, String) async -> Void) async throws {
        let arrived = Signal()
        try await withServer { connection in
            _ = connection.readRequest()
            arrived.fire()
            connection.waitForEnd()
        } _: { server, transport in
            let first = Task { await transport.failure(server.url) }
            await arrived.wait()
            await body(transport, server.url)
            first.cancel()
            #expect(await first.value == .httpCancelled)
            #expect(server.requests.count == 1)
        }
    }

    /// A call that waits for its turn does not wait beyond its deadline.
    @Test func whileQueued() async throws {
        try await whileAnotherRuns { transport, url in
            #expect(await transport.failure(url, deadline: .now + Self.brief) == .httpConnectTimeout)
        }
    }

    @Test func cancelledBefore() async throws {
        try await withServer(answering(good)) { server, transport in
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                return await transport.failure(server.url)
            }
            task.cancel()
            #expect(await task.value == .cancelled)
            #expect(server.connectionCount == 0)
            #expect(await transport.failure(server.url) == nil)
        }
    }

    @Test func cancelledWhileQueued() async throws {
        try await whileAnotherRuns { transport, url in
            let others = (0..<8).map { _ in Task { await transport.failure(url) } }
            for _ in 0..<1000 { await Task.yield() }
            for other in others { other.cancel() }
            for other in others { #expect(await other.value == .cancelled) }
        }
    }

    @Test func cancelledWhileConnecting() async throws {
        try await withFullBacklog { url, isConnecting in
            let transport = try HTTPTransport()
            let task = Task { await transport.failure(url) }
            while !isConnecting() { try await Task.sleep(for: .milliseconds(1)) }
            task.cancel()
            #expect(await task.value == .cancelled)
        }
    }

    /// While the request goes out, while nothing comes back, within the head, within the body.
    @Test(
        arguments: ["", "HTTP/1.1 200 OK\r\nContent-", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nxx"], [true, false])
    func cancelledOnTheWay(_ begun: String, _ isRead: Bool) async throws {
        let arrived = Signal()
        try await withServer { connection in
            _ = isRead ? connection.readRequest() : String(connection.read(1).count)
            connection.write(begun)
            arrived.fire()
            isRead ? connection.waitForEnd() : Signal.never()
        } _: { server, transport in
            let body = isRead ? Array("{}".utf8) : large
            let task = Task { await transport.failure(server.url, body) }
            await arrived.wait()
            task.cancel()
            #expect(await task.value == .httpCancelled)
        }
    }

    /// The exchange after a cancelled one is not affected, and gets nothing of the other's answer.
    @Test func theNextExchange() async throws {
        let arrived = Signal()
        try await withServer { connection in
            while let request = connection.readRequest() {
                if request.hasSuffix("slow") { arrived.fire() } else { connection.write(good) }
            }
        } _: { server, transport in
            for _ in 0..<50 {
                let task = Task { await transport.failure(server.url, "slow".utf8) }
                await arrived.wait()
                task.cancel()
                let status = try await transport.post(server.url).status
                #expect(await task.value == .httpCancelled && status == 200)
            }
        }
    }

    /// However cancellation and answer race, there is one result, and it is true.
    @Test func cancelledAtAnyMoment() async throws {
        try await withServer(answering(good)) { server, transport in
            var codes: Set<TenonError.Code?> = []
            for round in 0..<500 {
                let task = Task { await transport.failure(server.url) }
                for _ in 0..<round % 50 { await Task.yield() }
                task.cancel()
                codes.insert(await task.value)
            }
            #expect(codes.isSubset(of: [nil, .cancelled, .httpCancelled]))
            #expect(codes.contains(.cancelled))
        }
    }
}

extension Signal {
    /// Blocks a server's thread, which ends with the process.
    static func never() {
        while true { pause() }
    }
}

/// A port of loopback where connecting never ends, and whether somebody tries.
private func withFullBacklog(_ body: (_ url: String, _ isConnecting: () -> Bool) async throws -> Void) async throws {
    let listener = try listenOnLoopback(backlog: 0)
    defer { close(listener) }
    let port = localPort(listener)
    // A backlog of 0 holds one connection; the kernel drops what tries to connect after it.
    let only = connectToLoopback(port)
    defer { close(only) }
    let digits = String(port, radix: 16, uppercase: true)
    let local = "0100007F:" + String(repeating: "0", count: 4 - digits.count) + digits
    while connections(in: "\(local) 00000000:0000 0A 00000000:00000001") == 0 { sched_yield() }
    try await body("http://127.0.0.1:\(port)/") { connections(in: "\(local) 02 ") > 0 }
}

/// How many TCP sockets of this machine are in this state.
private func connections(in state: String) -> Int {
    guard let table = fopen("/proc/net/tcp", "re") else { return 0 }
    defer { fclose(table) }
    setvbuf(table, nil, Int32(_IOFBF), 1 << 20)
    var line = [CChar](repeating: 0, count: 512)
    var count = 0
    while fgets(&line, 512, table) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        count += text.contains(state) ? 1 : 0
    }
    return count
}
