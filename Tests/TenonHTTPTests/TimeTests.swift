// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import Tenon
import TenonHTTP
import Testing

/// Deadlines and cancellation, in each phase of an exchange.
@Suite(.timeLimit(.minutes(1))) struct TimeTests {
    static let brief = Duration.milliseconds(150)

    @Test func silence() async throws {
        try await withServer {
            $0.waitForEnd()
        } _: { server in
            let code = try await HTTPTransport.lateFailure(server.url)
            #expect(code == .httpTimeout)
        }
    }

    @Test func silenceUntilTheTransportsOwnTimeout() async throws {
        try await withServer {
            $0.waitForEnd()
        } _: { server in
            var time = Self.brief
            var code = TenonError.Code?.some(.httpConnectTimeout)
            while code == .httpConnectTimeout {
                code = try await HTTPTransport(.init(exchangeTimeout: time)).failure(server.url)
                time *= 2
            }
            #expect(code == .httpTimeout)
        }
    }

    /// The limit for connecting does not limit the answer.
    @Test func silenceAfterTheTimeToConnect() async throws {
        try await withServer {
            $0.waitForEnd()
        } _: { server in
            var (time, isWhole) = (Self.brief, false)
            var code = TenonError.Code?.some(.httpConnectTimeout)
            while code == .httpConnectTimeout {
                let start = ContinuousClock.now
                code = try await HTTPTransport(.init(connectTimeout: time, exchangeTimeout: time * 3)).failure(
                    server.url)
                isWhole = ContinuousClock.now - start >= time * 3
                time *= 2
            }
            #expect(code == .httpTimeout && isWhole)
        }
    }

    /// Bytes keep arriving, and the end never does.
    @Test func slowDrip() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n")
            while connection.write("x") { usleep(1000) }
        } _: { server in
            let code = try await HTTPTransport.lateFailure(server.url)
            #expect(code == .httpTimeout)
        }
    }

    @Test func slowDripOfAHead() async throws {
        try await withServer { connection in
            _ = connection.readRequest()
            while connection.write("H") { usleep(1000) }
        } _: { server in
            // If the bytes cannot begin a status line, it fails earlier.
            let code = try await HTTPTransport.lateFailure(server.url)
            #expect(code == .httpTimeout || code == .httpMalformed)
        }
    }

    /// The server reads nothing of the body.
    @Test func whileSending() async throws {
        try await withServer { connection in
            _ = connection.read(1)
            Signal.never()
        } _: { server in
            let code = try await HTTPTransport.lateFailure(server.url, large)
            #expect(code == .httpTimeout)
        }
    }

    @Test func whileConnecting() async throws {
        try await withFullBacklog { url, _ in
            let options = HTTPTransport.Options(connectTimeout: Self.brief)
            let code = try await HTTPTransport(options).failure(url)
            #expect(code == .httpConnectTimeout)
            let late = try await HTTPTransport().failure(url, deadline: .now + Self.brief)
            #expect(late == .httpConnectTimeout)
        }
    }

    @Test(arguments: [.zero, .seconds(-1), .seconds(-1_000_000_000), .seconds(Int64.min / 4)] as [Duration])
    func theTimeIsOver(_ left: Duration) async throws {
        try await withServer(answering(good)) { server in
            let code = try await HTTPTransport().failure(server.url, deadline: .now + left)
            #expect(code == .httpConnectTimeout)
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

    /// A call that waits for its turn does not wait beyond its deadline.
    @Test func whileQueued() async throws {
        let arrived = Signal()
        try await withServer { connection in
            _ = connection.readRequest()
            arrived.fire()
            connection.waitForEnd()
        } _: { server in
            let transport = try HTTPTransport()
            let first = Task { await transport.failure(server.url) }
            await arrived.wait()
            let second = await transport.failure(server.url, deadline: .now + Self.brief)
            #expect(second == .httpConnectTimeout)
            first.cancel()
            #expect(await first.value == .httpCancelled)
            #expect(server.requests.count == 1)
        }
    }

    @Test func cancelledBefore() async throws {
        try await withServer(answering(good)) { server in
            let transport = try HTTPTransport()
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
        let arrived = Signal()
        try await withServer { connection in
            _ = connection.readRequest()
            arrived.fire()
            connection.waitForEnd()
        } _: { server in
            let transport = try HTTPTransport()
            let first = Task { await transport.failure(server.url) }
            await arrived.wait()
            let others = (0..<8).map { _ in Task { await transport.failure(server.url) } }
            for _ in 0..<1000 { await Task.yield() }
            for other in others { other.cancel() }
            for other in others { #expect(await other.value == .cancelled) }
            first.cancel()
            #expect(await first.value == .httpCancelled)
            #expect(server.requests.count == 1)
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
        } _: { server in
            let transport = try HTTPTransport()
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
        } _: { server in
            let transport = try HTTPTransport()
            for _ in 0..<50 {
                let task = Task { await transport.failure(server.url, "slow".utf8) }
                await arrived.wait()
                task.cancel()
                #expect(try await transport.post(server.url).status == 200)
                #expect(await task.value == .httpCancelled)
            }
        }
    }

    /// However cancellation and answer race, there is one result, and it is true.
    @Test func cancelledAtAnyMoment() async throws {
        try await withServer(answering(good)) { server in
            let transport = try HTTPTransport()
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
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    func atAddress(_ call: (UnsafePointer<sockaddr>) -> Int32) -> Int32 {
        withUnsafePointer(to: &address) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, call) }
    }
    try #require(atAddress { bind(listener, $0, size) } == 0 && listen(listener, 0) == 0)
    let port = localPort(listener)
    address.sin_port = port.bigEndian
    // A backlog of 0 holds one connection; the kernel drops what tries to connect after it.
    let only = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(only) }
    try #require(atAddress { connect(only, $0, size) } == 0)
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
