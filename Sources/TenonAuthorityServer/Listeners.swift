// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonAuthority

/// The listeners of one authority: public; internal, for backends; admin, which is never a TCP port; and metrics, on
/// loopback.
final class Listeners: Sendable {
    private let servers: [HTTPServer]
    /// The port of the public listener, if it is on TCP.
    let publicPort: Int

    /// - Throws: ``TenonError/Code/listenerFailed``, ``TenonError/Code/configuration``.
    init(_ engine: AuthorityEngine, folder: String) throws(TenonError) {
        let (configuration, metrics) = (engine.configuration, Metrics())
        let trusted = Set(configuration.trustedProxies)
        let admin = try HTTPServer(
            ListeningSocket(path: FolderChoice.path(configuration.adminSocket, in: folder), mode: 0o600),
            HTTPServer.Options(threads: 1, connections: 64)
        ) { request, peer in
            await metrics.measure(.admin) { await Listeners.adminAnswer(request, peer, engine, metrics) }
        }
        var servers = [admin]
        if let listener = configuration.internalListener {
            let (socket, options) = try Listeners.open(listener, configuration, folder: folder)
            servers.append(
                try HTTPServer(socket, options) { request, _ in
                    await metrics.measure(.internal) { await engine.answer(request, at: .internal) }
                })
        }
        if let listener = configuration.metricsListener {
            let (socket, _) = try Listeners.open(listener, configuration, folder: folder)
            servers.append(
                try HTTPServer(socket, HTTPServer.Options(threads: 1, connections: 16)) { request, _ in
                    Listeners.withTimes(await engine.answer(request, at: .metrics), request, metrics)
                })
        }
        var (socket, options) = try Listeners.open(configuration.publicListener, configuration, folder: folder)
        options.proxies = trusted
        options.connectionsOfAddress =
            AddressShare.connections(
                configuration.limits.connections, each: configuration.limits.connectionsPerAddress
            ).share
        servers.append(
            try HTTPServer(socket, options) { request, peer in
                await metrics.measure(.public) {
                    var request = request
                    request.peer = ForwardedAddress.asker(peer.address, request.headers, trusted: trusted)
                    return await engine.answer(request, at: .public)
                }
            })
        publicPort = socket.port
        self.servers = servers
    }

    /// Stops the public listener first.
    func stop() async {
        for server in servers.reversed() { await server.stop() }
    }

    /// Admits only the authority's user and root, whatever the present mode of the file is.
    static func adminAnswer(
        _ request: AuthorityRequest, _ peer: HTTPPeer, _ engine: AuthorityEngine, _ metrics: Metrics
    ) async -> AuthorityAnswer {
        guard let user = peer.user, user == geteuid() || user == 0 else {
            return AuthorityAnswer(status: 403, body: Array("{\"error_code\":\"NOT_ALLOWED\"}".utf8))
        }
        return withTimes(await engine.answer(request, at: .admin), request, metrics)
    }

    /// Adds the durations of answers to the metrics, because the engine does not know them.
    private static func withTimes(
        _ answer: AuthorityAnswer, _ request: AuthorityRequest, _ metrics: Metrics
    ) -> AuthorityAnswer {
        var answer = answer
        if answer.status == 200 && request.target == "/metrics" { answer.body += Array(metrics.text.utf8) }
        return answer
    }

    private static func open(
        _ listener: Listener, _ configuration: Configuration, folder: String
    ) throws(TenonError) -> (ListeningSocket, HTTPServer.Options) {
        var options = HTTPServer.Options(
            threads: max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN))), connections: configuration.limits.connections,
            bodyBytes: configuration.largestBody)
        switch listener {
        case .unix(let path):
            return (try ListeningSocket(path: FolderChoice.path(path, in: folder), mode: 0o660), options)
        case .tcp(let address, let port, let tls):
            if let tls {
                options.tls = (
                    try TextFile.read(FolderChoice.path(tls.certificate, in: folder)),
                    try TextFile.read(FolderChoice.path(tls.key, in: folder))
                )
            }
            return (try ListeningSocket(address: address, port: port), options)
        }
    }
}

/// Finds the client of a request that a proxy passed on.
enum ForwardedAddress {
    /// The last address in the list that does not belong to a trusted proxy (decision: shares). Anybody may have
    /// written the addresses before it.
    static func asker(
        _ peer: String, _ headers: [(name: String, value: String)], trusted: Set<String>
    ) -> String {
        var asker = peer
        var before = headers.filter { $0.name.lowercased() == "x-forwarded-for" }
            .flatMap { $0.value.split(separator: ",", omittingEmptySubsequences: false) }
        while trusted.contains(asker.isEmpty ? "unix" : asker), let next = before.popLast() {
            guard let address = Address.canonical(next.filter { $0 != " " && $0 != "\t" }) else { return asker }
            asker = address
        }
        return asker
    }
}
