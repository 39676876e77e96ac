// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import Tenon
import Testing

/// A test's server on raw sockets, which sends exactly the bytes of its script. Each connection has a thread.
final class Server: Sendable {
    let port: UInt16
    let path: String?
    private let listener: Int32
    private let state = Mutex((requests: [String](), connections: [Connection]()))

    /// On a free port of loopback, or on a unix socket.
    init(path: String? = nil, _ script: @escaping @Sendable (Connection) -> Void) throws {
        self.path = path
        listener = path == nil ? try listenOnLoopback() : try listenOnPath(path ?? "")
        port = localPort(listener)
        startThread { [self] in
            while true {
                let socket = accept(listener, nil, nil)
                guard socket >= 0 else { break }
                _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
                let connection = Connection(socket, self)
                state.withLock { $0.connections.append(connection) }
                startThread {
                    script(connection)
                    connection.close()
                }
            }
            // The caller that stops the server must not close it: accept could be called with a reused descriptor.
            Glibc.close(listener)
        }
    }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        let connections = state.withLock { state in
            defer { state.connections = [] }
            return state.connections
        }
        for connection in connections { connection.interrupt() }
    }

    var url: String { "http://127.0.0.1:\(port)/v1/device/challenge" }

    /// The requests that arrived, complete or not.
    var requests: [String] { state.withLock { $0.requests } }

    var connectionCount: Int { state.withLock { $0.connections.count } }

    fileprivate func arrived(_ request: String) { state.withLock { $0.requests.append(request) } }
}

final class Connection: Sendable {
    private let socket: Mutex<Int32>
    private let server: Server

    fileprivate init(_ socket: Int32, _ server: Server) {
        self.socket = Mutex(socket)
        self.server = server
    }

    private var descriptor: Int32 { socket.withLock { $0 } }

    /// At most this many bytes; none at the end.
    func read(_ count: Int) -> [UInt8] {
        let descriptor = descriptor
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = max(0, recv(descriptor, buffer.baseAddress, count, 0))
        }
    }

    /// Exactly this many bytes, or fewer at the end.
    func readAll(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let more = read(count - bytes.count)
            if more.isEmpty { break }
            bytes += more
        }
        return bytes
    }

    /// A head with its empty line, or an incomplete one at the end.
    func readHead() -> String {
        var head: [UInt8] = []
        while head.suffix(4) != Array("\r\n\r\n".utf8)[...] {
            let byte = read(1)
            if byte.isEmpty { break }
            head += byte
        }
        return String(decoding: head, as: UTF8.self)
    }

    /// A request with its body; nil when there is none.
    func readRequest() -> String? {
        let head = readHead()
        guard !head.isEmpty else { return nil }
        let length = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
        let count = length.flatMap { Int($0.dropFirst(16)) } ?? 0
        let request = head + String(decoding: readAll(count), as: UTF8.self)
        server.arrived(request)
        return request
    }

    /// Whether the peer accepted it.
    @discardableResult func write(_ bytes: some Sequence<UInt8>) -> Bool {
        let bytes = Array(bytes)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    @discardableResult func write(_ text: String) -> Bool { write(text.utf8) }

    func waitForEnd() {
        while !read(65_536).isEmpty {}
    }

    func reset() {
        socket.withLock { socket in
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
            if socket >= 0 { Glibc.close(socket) }
            socket = -1
        }
    }

    /// This also affects a forked child of another test, which holds the socket until it executes its program.
    func close() {
        socket.withLock { socket in
            if socket >= 0 {
                shutdown(socket, Int32(SHUT_RDWR))
                Glibc.close(socket)
            }
            socket = -1
        }
    }

    fileprivate func interrupt() {
        socket.withLock { socket in
            if socket >= 0 { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }
}

/// 127.0.0.1 and a port.
private func onLoopback<Value>(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    address.sin_port = port.bigEndian
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
}

private func makeSocket(_ family: Int32) -> Int32 {
    socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
}

func listenOnLoopback(backlog: Int32 = 64) throws -> Int32 {
    let listener = makeSocket(AF_INET)
    try #require(onLoopback(0) { bind(listener, $0, $1) } == 0 && listen(listener, backlog) == 0)
    return listener
}

private func listenOnPath(_ path: String) throws -> Int32 {
    let listener = makeSocket(AF_UNIX)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let bound = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, size) }
    }
    try #require(bound == 0 && listen(listener, 64) == 0)
    return listener
}

func localPort(_ socket: Int32) -> UInt16 {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
    }
    return UInt16(bigEndian: address.sin_port)
}

func startThread(_ body: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(body))
    let error = pthread_create(
        &thread, nil,
        { box in
            box.map { Unmanaged<Box>.fromOpaque($0).takeRetainedValue().body() }
            return nil
        }, box.toOpaque())
    precondition(error == 0)
    pthread_detach(thread)
}

func connectToLoopback(_ port: UInt16) -> Int32 {
    let socket = makeSocket(AF_INET)
    _ = onLoopback(port) { connect(socket, $0, $1) }
    return socket
}
