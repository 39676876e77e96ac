// SPDX-License-Identifier: Apache-2.0
internal import CTenonHTTPD
internal import Synchronization
internal import Tenon
internal import TenonAuthority

/// The HTTP server of one listener. It accepts only requests whose framing is unambiguous, passes each to a function
/// and sends its answer. It has threads of its own, so that no thread of the cooperative pool waits for a peer.
final class HTTPServer: Sendable {
    typealias Handler = @Sendable (AuthorityRequest, HTTPPeer) async -> AuthorityAnswer

    struct Options: Sendable {
        /// PEM texts of a certificate, with those above it, and its key.
        var tls: (certificate: String, key: String)?
        var threads = 2
        var connections = 1_024
        /// The share of one IPv4 address or IPv6 /64 when connections are scarce; 0 means that they are not counted.
        var connectionsOfAddress = 0
        /// The addresses of proxies, which have no share. If there are any, one connection carries requests of several
        /// clients.
        var proxies: Set<String> = []
        var bodyBytes = 32_768
        /// The seconds within which a request must arrive, and within which an answer must be sent.
        var seconds = 20
    }

    let socket: ListeningSocket
    private let handler: HTTPHandler
    private let thread = WorkThread()
    private let server: Mutex<Server?>

    private struct Server: @unchecked Sendable {
        // The caller that takes the pointer out of the lock stops the server, and no other caller has it then.
        let pointer: OpaquePointer
    }

    /// Starts to serve.
    ///
    /// - Throws: ``TenonError/Code/listenerFailed`` if the certificate or its key is invalid.
    init(
        _ socket: ListeningSocket, _ options: Options = Options(), handler: @escaping Handler
    ) throws(TenonError) {
        self.socket = socket
        self.handler = HTTPHandler(handler, options)
        guard let pointer = HTTPServer.start(socket, options, self.handler) else {
            throw TenonError(
                .listenerFailed, message: "The server cannot start: do its certificate and key belong together?")
        }
        server = Mutex(Server(pointer: pointer))
    }

    deinit {
        // If nobody stopped the server, this waits for its threads, because they use the handler.
        if let server = server.withLock({ $0.take() }) { tenoni_httpd_stop(server.pointer) }
    }

    /// Stops accepting connections, answers the requests that have arrived, and ends.
    func stop() async {
        guard let server = server.withLock({ $0.take() }) else { return }
        await Task { [thread] in
            _ = try? await thread.run { () throws(TenonError) in tenoni_httpd_stop(server.pointer) }
        }.value
    }

    private static func start(
        _ socket: ListeningSocket, _ options: Options, _ handler: HTTPHandler
    ) -> OpaquePointer? {
        var start = tenoni_httpd_options()
        start.listener = socket.descriptor
        start.threads = UInt32(options.threads)
        start.connections = UInt32(options.connections)
        start.body_max = options.bodyBytes
        start.seconds = UInt32(options.seconds)
        start.is_proxied = !options.proxies.isEmpty
        start.context = Unmanaged.passUnretained(handler).toOpaque()
        start.handle = { handler, call in
            guard let handler, let call else { return }
            Unmanaged<HTTPHandler>.fromOpaque(handler).takeUnretainedValue().take(HTTPCall(call))
        }
        if options.connectionsOfAddress > 0 { countConnections(&start) }
        guard let tls = options.tls else { return tenoni_httpd_start(&start) }
        return tls.certificate.withCString { certificate in
            tls.key.withCString { key in
                (start.certificate, start.key) = (certificate, key)
                return tenoni_httpd_start(&start)
            }
        }
    }

    private static func countConnections(_ start: inout tenoni_httpd_options) {
        start.enter = { handler, address in
            guard let handler, let address else { return false }
            let connections = Unmanaged<HTTPHandler>.fromOpaque(handler).takeUnretainedValue().connections
            return connections.enter(String(cString: address))
        }
        start.leave = { handler, address in
            guard let handler, let address else { return }
            let connections = Unmanaged<HTTPHandler>.fromOpaque(handler).takeUnretainedValue().connections
            connections.leave(String(cString: address))
        }
    }
}

/// Takes requests from the server's threads.
private final class HTTPHandler: Sendable {
    private let handler: HTTPServer.Handler
    let connections: ConnectionCounts

    init(_ handler: @escaping HTTPServer.Handler, _ options: HTTPServer.Options) {
        self.handler = handler
        connections = ConnectionCounts(
            .connections(options.connections, each: options.connectionsOfAddress), shared: options.proxies)
    }

    /// Called on a thread of the server, which must not wait.
    func take(_ call: HTTPCall) {
        let (request, peer) = (call.request, call.peer)
        Task { [handler] in call.answer(await handler(request, peer)) }
    }
}

/// A request that waits for its answer, which is given once.
final class HTTPCall: Sendable {
    private nonisolated(unsafe) let call: OpaquePointer

    init(_ call: OpaquePointer) { self.call = call }

    /// The peer of the connection.
    var peer: HTTPPeer {
        var peer = tenoni_httpd_peer()
        tenoni_httpd_peer_of(call, &peer)
        let address = withUnsafeBytes(of: peer.address) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return HTTPPeer(address: address, user: peer.user < 0 ? nil : UInt32(truncatingIfNeeded: peer.user))
    }

    /// A copy of the request.
    var request: AuthorityRequest {
        var count = 0
        let body = UnsafeBufferPointer(start: tenoni_httpd_body(call, &count), count: count)
        var request = AuthorityRequest(
            method: String(cString: tenoni_httpd_method(call)), target: String(cString: tenoni_httpd_target(call)),
            body: Array(body))
        withUnsafeMutablePointer(to: &request) { request in
            tenoni_httpd_headers(call, request) { request, name, nameCount, value, valueCount in
                request?.assumingMemoryBound(to: AuthorityRequest.self).pointee.headers.append(
                    (HTTPCall.text(name, nameCount), HTTPCall.value(value, valueCount)))
            }
        }
        return request
    }

    /// Answers the call, which ends it. Any thread may call this.
    func answer(_ answer: AuthorityAnswer) {
        answer.body.withUnsafeBufferPointer { tenoni_httpd_set_body(call, $0.baseAddress, $0.count) }
        for (name, value) in answer.headers { tenoni_httpd_add_header(call, name, value) }
        tenoni_httpd_answer(call, UInt32(answer.status))
    }

    /// The value without trailing white space (RFC 9110, 5.5), which libmicrohttpd leaves there.
    private static func value(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> String {
        let bytes = UnsafeRawBufferPointer(start: bytes, count: count)
        let end = bytes.lastIndex { $0 != 0x20 && $0 != 0x09 }
        return String(decoding: bytes[..<(end.map { $0 + 1 } ?? 0)], as: UTF8.self)
    }

    private static func text(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
}

/// The peer of a connection.
struct HTTPPeer: Equatable, Sendable {
    /// An IP address; "" on a unix socket.
    var address: String
    /// The user on a unix socket, as the kernel reports it; nil on any other.
    var user: UInt32?
}

/// Counts the open connections of each client, so that a few clients cannot take all of them.
final class ConnectionCounts: Sendable {
    private struct State {
        var counts: [String: Int] = [:]
        var used = 0
    }

    private let share: AddressShare
    /// The addresses of proxies, each of which many clients share.
    private let shared: Set<String>
    private let state = Mutex(State())

    init(_ share: AddressShare, shared: Set<String> = []) {
        self.share = share
        self.shared = shared
    }

    /// Counts one more connection from an address, if it may have one.
    func enter(_ address: String) -> Bool {
        let asker = Address.subscriber(address)
        return state.withLock { state in
            let held = state.counts[asker, default: 0]
            guard shared.contains(address) || share.admits(held: held, used: state.used) else { return false }
            state.counts[asker] = held + 1
            state.used += 1
            return true
        }
    }

    /// Counts the end of a connection.
    func leave(_ address: String) {
        let asker = Address.subscriber(address)
        state.withLock { state in
            let left = state.counts[asker, default: 0] - 1
            state.counts[asker] = left > 0 ? left : nil
            state.used -= 1
        }
    }
}
