// SPDX-License-Identifier: Apache-2.0
internal import CTenonHTTPD
internal import Synchronization
internal import Tenon
internal import TenonAuthority

/// The HTTP server of one listener: it takes requests that are framed in one way only, gives each to a function and
/// sends what that answers. It has threads of its own; none of the cooperative pool waits for a peer.
final class HTTPServer: Sendable {
    typealias Handler = @Sendable (AuthorityRequest, HTTPPeer) async -> AuthorityAnswer

    struct Options: Sendable {
        /// PEM texts of a certificate, with what stands behind it, and its key.
        var tls: (certificate: String, key: String)?
        var threads = 2
        var connections = 1_024
        /// The share of one IPv4 address or IPv6 /64 where connections are scarce; 0 counts none.
        var connectionsOfAddress = 0
        /// Proxies, which have no share of their own; where there are some, others come by one connection.
        var proxies: Set<String> = []
        var bodyBytes = 32_768
        /// In which a request has to be here, and an answer to be gone.
        var seconds = 20
    }

    let socket: ListeningSocket
    private let handler: HTTPHandler
    private let thread = WorkThread()
    private let server: Mutex<Server?>

    private struct Server: @unchecked Sendable {
        // Whoever takes it out of the lock stops it, and nobody else has it then.
        let pointer: OpaquePointer
    }

    /// Serves from now on.
    ///
    /// - Throws: ``TenonError/Code/listenerFailed`` when the certificate and its key are none.
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
        // Whoever forgets to stop it waits here: the threads of the server use the handler.
        if let server = server.withLock({ $0.take() }) { tenoni_httpd_stop(server.pointer) }
    }

    /// Takes nobody in any more, answers what was asked, and ends.
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

/// What a server's threads hand a request to.
private final class HTTPHandler: Sendable {
    private let handler: HTTPServer.Handler
    let connections: ConnectionCounts

    init(_ handler: @escaping HTTPServer.Handler, _ options: HTTPServer.Options) {
        self.handler = handler
        connections = ConnectionCounts(
            .connections(options.connections, each: options.connectionsOfAddress), shared: options.proxies)
    }

    /// On a thread of the server, which does not wait.
    func take(_ call: HTTPCall) {
        let (request, peer) = (call.request, call.peer)
        Task { [handler] in call.answer(await handler(request, peer)) }
    }
}
