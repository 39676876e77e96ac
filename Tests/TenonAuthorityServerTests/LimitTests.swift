// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import Testing

@testable import TenonAuthority
@testable import TenonAuthorityServer

/// Slow clients, too many clients, and stops.
@Suite(.timeLimit(.minutes(1))) struct LimitTests {
    private static let get = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n"

    /// A request that is never completed ends, however often a byte of it arrives.
    @Test(arguments: ["", "GET /x HT", "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nbo"])
    func slowRequest(_ begun: String) async throws {
        try await withServer(.init(seconds: 1)) { server, arrivals in
            let client = try RawClient(port: server.socket.port)
            client.send(begun)
            #expect(await client.readByte() == nil)
            #expect(arrivals.lines.isEmpty)
        }
    }

    /// A client that was answered in time may ask again, and gets the full time again.
    @Test func aKeptConnection() async throws {
        try await withServer { server, arrivals in
            let client = try RawClient(port: server.socket.port)
            for _ in 0..<100 { #expect(await client.get() == [200]) }
            #expect(arrivals.all.count == 100)
        }
    }

    /// Waiting answers hold up no other client and no thread.
    @Test func manyAtOnce() async throws {
        let gate = Gate()
        try await withServer(answer: gate.answer) { server, _ in
            var clients: [RawClient] = []
            for _ in 0..<200 {
                clients.append(try RawClient(port: server.socket.port))
                clients.last?.send(Self.get)
            }
            await gate.waitFor(200)
            gate.open()
            for client in clients { #expect(statuses(await client.readAnswer()) == [200]) }
        }
    }

    @Test func tooManyConnections() async throws {
        try await withServer(.init(connections: 4)) { server, _ in
            var clients: [RawClient] = []
            for _ in 0..<4 {
                clients.append(try RawClient(port: server.socket.port))
                #expect(await clients.last?.get() == [200])
            }
            let late = try RawClient(port: server.socket.port)
            late.send(Self.get)
            clients.removeFirst()
            #expect(await clients[0].get() == [200])
        }
    }

    @Test func tooManyOfOneAddress() async throws {
        try await withServer(.init(threads: 1, connections: 4, connectionsOfAddress: 2)) { server, _ in
            let clients = try (0..<2).map { _ in try RawClient(port: server.socket.port) }
            for client in clients { #expect(await client.get() == [200]) }
            // A refused client has no place to give back.
            for number in 3..<12 {
                let more = try RawClient(port: server.socket.port)
                more.send(Self.get)
                #expect(await more.readByte() == nil, "\(number)")
            }
            withExtendedLifetime(clients) {}
        }
    }

    /// A /64 counts as one client, and a client that leaves makes room. Half of the places are for anybody.
    @Test func connectionsOfASubscriber() {
        let counts = ConnectionCounts(.connections(4, each: 2), shared: ["10.0.0.1"])
        for _ in 0..<3 { #expect(counts.enter("10.0.0.1")) }
        for _ in 0..<3 { counts.leave("10.0.0.1") }
        #expect(counts.enter("2001:db8::1") && counts.enter("2001:db8:0:0:ffff::2"))
        #expect(!counts.enter("2001:db8::3"))
        #expect(counts.enter("2001:db8:0:1::1") && counts.enter("192.0.2.1") && counts.enter("::ffff:192.0.2.2"))
        counts.leave("2001:db8::1")
        #expect(counts.enter("2001:db8::3") && !counts.enter("2001:db8::4"))
    }

    /// While half of the places are free, one address may take all of them, again and again.
    @Test func placesThatAreGivenBackAreFree() {
        let counts = ConnectionCounts(.connections(8, each: 1))
        for _ in 0..<3 {
            for _ in 0..<4 { #expect(counts.enter("192.0.2.1")) }
            #expect(!counts.enter("192.0.2.1"))
            for _ in 0..<4 { counts.leave("192.0.2.1") }
        }
    }

    @Test func whoGoesMakesRoom() async throws {
        try await withServer(.init(threads: 1, connections: 2, connectionsOfAddress: 1)) { server, _ in
            for _ in 0..<8 {
                // A client sees the end a moment before the server counts it.
                while statuses(await (try RawClient(port: server.socket.port)).talk(FramingTests.behind)) != [200] {
                    await Task.yield()
                }
            }
        }
    }

    /// A connection whose peer has closed frees its place at once, and not at its deadline: in the middle of a head, of
    /// a body, and while its answer is made.
    @Test(arguments: ["", "GET /x HT", "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nbo", get])
    func aClosedConnectionGivesItsPlaceBack(_ begun: String) async throws {
        var options = HTTPServer.Options()
        (options.threads, options.connections, options.connectionsOfAddress, options.seconds) = (1, 2, 1, 600)
        let gate = Gate()
        try await withServer(options) { request in
            if request.target == "/x" { await gate.pass() }
            return AuthorityAnswer(status: 200)
        } _: { server, _ in
            for round in 1...3 {
                let gone = try RawClient(port: server.socket.port)
                gone.send(begun)
                if begun == Self.get { await gate.waitFor(round) }
                gone.close()
                var answers: [Int] = []
                for _ in 0..<1_000 where answers != [200] {
                    answers = statuses(await (try RawClient(port: server.socket.port)).talk(FramingTests.behind))
                }
                #expect(answers == [200], "\(round)")
            }
            gate.open()
        }
    }

    /// A request that arrived before the end is read and carried out, because the peer may still wait for its answer.
    /// The server has a second for that, so a machine that stalls for a second is tried again.
    @Test func whatCameBeforeTheEndIsRead() async throws {
        try await withServer(.init(threads: 1)) { server, arrivals in
            let (count, port) = (64, server.socket.port)
            var most = 0
            for _ in 0..<3 where most < count {
                let before = arrivals.all.count
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<8 {
                        group.addTask { for _ in 0..<(count / 8) { try Self.askAndGo(port) } }
                    }
                    try await group.waitForAll()
                }
                for _ in 0..<100_000 where arrivals.all.count < before + count { await Task.yield() }
                most = max(most, arrivals.all.count - before)
            }
            #expect(most == count)
        }
    }

    private static func askAndGo(_ port: Int) throws {
        let client = try RawClient(port: port)
        client.send(get)
        client.close()
    }

    /// There is no deadline while an answer is made: here, that takes longer than a request may take.
    @Test func anAnswerMayTakeLonger() async throws {
        let gate = Gate()
        try await withServer(.init(seconds: 1), answer: gate.answer) { server, _ in
            let asking = try RawClient(port: server.socket.port)
            asking.send(Self.get)
            await gate.waitFor(1)
            let slow = try RawClient(port: server.socket.port)
            slow.send("GET /x HT")
            #expect(await slow.readByte() == nil)
            gate.open()
            #expect(statuses(await asking.readAnswer()) == [200])
        }
    }

    /// 17 addresses take all the places that they can get and keep them: another client still gets in.
    @Test func manyAddressesKeepNobodyOut() async throws {
        try await withAuthority(#", "limits": {"connections": 68}"#) { port, _ in
            var held: [RawClient] = []
            for address in UInt8(2)...18 {
                for _ in 0..<4 {
                    let client = try RawClient(port: port, from: address)
                    client.send(Self.get + "GET /health HT")
                    if await !client.readAnswer().isEmpty { held.append(client) }
                }
            }
            let late = try RawClient(port: port, from: 99)
            #expect(await late.get("/health") == [200])
            #expect(held.count > 17 && held.allSatisfy(\.isOpen), "\(held.count)")
        }
    }

    /// Behind a proxy, bytes that the two read differently do not become another client's request. An old libmicrohttpd
    /// leaves out empty lines, and so an answer ends its connection; a newer one refuses them.
    @Test func aProxysConnectionEndsWithTheAnswer() async throws {
        try await withServer(.init(proxies: ["127.0.0.1"])) { server, arrivals in
            let client = try RawClient(port: server.socket.port)
            let answers = await client.talk("\r\n\r\n" + Self.get + FramingTests.behind)
            #expect(statuses(answers).isEmpty || answers.lowercased().contains("\r\nconnection: close\r\n"))
            #expect(arrivals.all.count == statuses(answers).count && arrivals.all.count < 2)
        }
    }

    /// A client that leaves before its answer is made does no harm, and a stop waits for the answer.
    @Test func aStopWaitsForWhatNobodyWaitsFor() async throws {
        let gate = Gate()
        let begun = Atomic(0)
        let over = Atomic(0)
        let socket = try ListeningSocket(address: "127.0.0.1", port: 0)
        let server = try HTTPServer(socket) { _, _ in
            begun.add(1, ordering: .relaxed)
            await gate.pass()
            // Longer than a stop that waits for nothing.
            for _ in 0..<20_000 { await Task.yield() }
            over.add(1, ordering: .relaxed)
            return AuthorityAnswer(status: 200, body: [1])
        }
        for _ in 0..<4 {
            let client = try RawClient(port: socket.port)
            client.send(Self.get)
            client.close()
        }
        let last = try RawClient(port: socket.port)
        last.send(Self.get)
        await gate.waitFor(1)
        last.close()
        let stop = Task { await server.stop() }
        gate.open()
        await stop.value
        #expect(over.load(ordering: .relaxed) >= 1)
        #expect(over.load(ordering: .relaxed) == begun.load(ordering: .relaxed))
    }

    /// Computations run on other threads, so that the server can always refuse more requests.
    @Test func theActivationGate() async throws {
        let gate = ActivationGate(capacity: 2, threads: 1)
        let (begun, goOn) = (Mark(), Mark())
        let first = Task {
            try await gate.run { () throws(Refusal) in
                begun.set()
                goOn.wait()
                return 1
            }
        }
        await onThread { begun.wait() }
        let second = Task { try await gate.run { () throws(Refusal) in 2 } }
        while gate.occupancy < 2 { await Task.yield() }
        let refusal = await #expect(throws: Refusal.self) { try await gate.run { () throws(Refusal) in 3 } }
        #expect(refusal?.status == 503 && refusal?.retryAfter == 1)
        goOn.set()
        #expect(try await first.value == 1)
        #expect(try await second.value == 2)
        #expect(try await gate.run { () throws(Refusal) in 4 } == 4 && gate.occupancy == 0)
        let error = await #expect(throws: Refusal.self) {
            try await gate.run { () throws(Refusal) -> Int in throw Refusal(.notFound, "") }
        }
        #expect(error?.code == .notFound && gate.occupancy == 0)
    }

    /// A stop answers open requests, ends idle connections, and accepts no new ones.
    @Test func gracefulStop() async throws {
        let gate = Gate()
        let socket = try ListeningSocket(address: "127.0.0.1", port: 0)
        let server = try HTTPServer(socket) { _, _ in
            await gate.pass()
            return AuthorityAnswer(status: 200, body: Array("done".utf8))
        }
        let idle = try RawClient(port: socket.port)
        let begun = try RawClient(port: socket.port)
        begun.send("POST /x HT")
        let asking = try RawClient(port: socket.port)
        asking.send(Self.get)
        await gate.waitFor(1)
        let stop = Task { await server.stop() }
        #expect(await idle.readByte() == nil)
        #expect(await begun.readByte() == nil)
        gate.open()
        let answer = await asking.talk("")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("\r\n\r\ndone"))
        #expect(answer.lowercased().contains("\r\nconnection: close\r\n"))
        await stop.value
        await server.stop()
    }

    /// A client that leaves while its answer is made does no harm.
    @Test func theAskerGoes() async throws {
        let gate = Gate()
        try await withServer { _ in
            await gate.pass()
            return AuthorityAnswer(status: 200, body: [UInt8](repeating: 0x78, count: 60_000))
        } _: { server, _ in
            var clients = try (0..<20).map { _ in try RawClient(port: server.socket.port) }
            for client in clients { client.send(Self.get) }
            await gate.waitFor(20)
            clients.removeAll()
            gate.open()
            let client = try RawClient(port: server.socket.port)
            #expect(await client.get() == [200])
        }
    }

    @Test func theAskerDoesNotRead() async throws {
        try await withServer(.init(seconds: 1)) { _ in
            AuthorityAnswer(status: 200, body: [UInt8](repeating: 0x78, count: 32 << 20))
        } _: { server, _ in
            let client = try RawClient(port: server.socket.port)
            client.send(Self.get)
            await server.stop()
            #expect(await client.talk("").utf8.count < 32 << 20)
        }
    }
}

/// A gate that a thread waits at.
private final class Mark: Sendable {
    private nonisolated(unsafe) let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit { semaphore.deallocate() }

    func set() { sem_post(semaphore) }

    func wait() { while sem_wait(semaphore) != 0 {} }
}

/// Holds answers until the test releases them.
final class Gate: Sendable {
    private struct State {
        var count = 0
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var watcher: (count: Int, CheckedContinuation<Void, Never>)?
    }

    private let state = Mutex(State())

    func pass() async {
        await withCheckedContinuation { continuation in
            let (isOpen, watcher) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
                state.count += 1
                if !state.isOpen { state.waiting.append(continuation) }
                guard let (count, watcher) = state.watcher, state.count >= count else { return (state.isOpen, nil) }
                state.watcher = nil
                return (state.isOpen, watcher)
            }
            watcher?.resume()
            if isOpen { continuation.resume() }
        }
    }

    /// An answer that waits at this gate.
    @Sendable func answer(_: AuthorityRequest) async -> AuthorityAnswer {
        await pass()
        return AuthorityAnswer(status: 200)
    }

    /// Waits until this many have arrived.
    func waitFor(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.count < count { state.watcher = (count, continuation) }
                return state.count >= count
            }
            if isThere { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
