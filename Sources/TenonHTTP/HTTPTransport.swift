// SPDX-License-Identifier: Apache-2.0
internal import Glibc
public import Tenon

/// The transport over libcurl.
///
/// It speaks HTTP/1.1: `https` with TLS 1.2 or later and a verified certificate; `http` only to this machine, over
/// loopback or a unix socket. It follows no redirect, keeps no cookie, reads no environment variable, and adds only
/// `Host`, `User-Agent`, `Accept` and the body's framing to a request. An answer may have 64 KiB, its headers 16 KiB.
///
/// Exchanges run one at a time, in the order of the calls, on a thread that belongs to this value; use several values
/// for parallel exchanges. A connection is kept for 4 s and used again. A fork's child must make its own transport.
public final class HTTPTransport: Transport {
    private let thread = WorkThread()
    private let handle: Lease<CurlHandle>
    private let options: Options

    /// Makes a transport; it connects with the first exchange.
    ///
    /// - Throws: ``TenonError/Code/httpOption``, ``TenonError/Code/memory``.
    public init(_ options: Options = Options()) throws(TenonError) {
        try options.check()
        self.options = options
        handle = try Lease(CurlHandle(), on: thread)
    }

    /// Sends a request and returns its answer.
    ///
    /// - Throws: as ``Transport`` says. Before anything is sent: ``TenonError/Code/httpURL``, `httpMethod` and
    ///   `httpHeader` for a malformed request; `httpResolve`, `httpConnect`, `httpConnectTimeout`,
    ///   `tlsHandshake`; `httpProxy`, `tlsTrustFile`; `tlsUntrusted`, `tlsDate`, `tlsHost`, `tlsPin`; `cancelled`;
    ///   `forked`, `memory`. After that: `httpNoAnswer`, `httpTimeout`, `httpCancelled`, `httpTooLarge`,
    ///   `httpMalformed`.
    public func exchange(
        _ request: HTTPRequest, deadline: ContinuousClock.Instant
    ) async throws(TenonError) -> HTTPResponse {
        guard thread.isOurs else {
            throw TenonError(.forked, message: "Another process made this transport. Make one in this process.")
        }
        let exchange = try Exchange(request, options, deadline: deadline)
        do throws(TenonError) {
            return try await bounded(exchange).get()
        } catch  where error.code == .cancelled && exchange.isLate {
            throw .late
        }
    }

    /// Stops waiting for the thread at the deadline; the exchange itself observes it, too.
    private func bounded(_ exchange: Exchange) async -> Result<HTTPResponse, TenonError> {
        await withTaskGroup(of: Result<HTTPResponse, TenonError>?.self) { group in
            group.addTask { await self.result(of: exchange) }
            group.addTask {
                try? await Sleep.until(exchange.deadline)
                return nil
            }
            var result: Result<HTTPResponse, TenonError>?
            while result == nil, let next = await group.next() {
                group.cancelAll()
                result = next
            }
            return result ?? .failure(.cancelled)
        }
    }

    private func result(of exchange: Exchange) async -> Result<HTTPResponse, TenonError> {
        await withTaskCancellationHandler {
            do throws(TenonError) {
                return try await .success(
                    thread.run { () throws(TenonError) in try self.handle.value.perform(exchange) })
            } catch {
                return .failure(error)
            }
        } onCancel: {
            exchange.cancel()
            handle.value.wake()
        }
    }
}

extension HTTPTransport {
    /// How a transport connects, and which servers it trusts.
    public struct Options: Sendable {
        /// A PEM file of the CAs to trust instead of the system's.
        public var caFile: String?
        /// The SHA-256 of SubjectPublicKeyInfos. If there are any, the server's certificate must be valid and have one
        /// of these keys.
        public var pins: [Digest]
        /// A proxy for servers on other machines, as `http://[user:password@]host:port`.
        public var proxy: String?
        /// The path of a unix socket to connect to, for every host.
        public var unixSocket: String?
        /// How long to wait for a connection, TLS included.
        public var connectTimeout: Duration
        /// How long an exchange may take, the connection included.
        public var exchangeTimeout: Duration

        /// Options with defaults for what is left out.
        public init(
            caFile: String? = nil, pins: [Digest] = [], proxy: String? = nil, unixSocket: String? = nil,
            connectTimeout: Duration = .seconds(10), exchangeTimeout: Duration = .seconds(30)
        ) {
            self.caFile = caFile
            self.pins = pins
            self.proxy = proxy
            self.unixSocket = unixSocket
            self.connectTimeout = connectTimeout
            self.exchangeTimeout = exchangeTimeout
        }
    }
}

extension HTTPTransport.Options {
    func check() throws(TenonError) {
        if let caFile {
            try Self.require(Self.isPath(caFile), "The path of the CA file is empty or has a NUL. Correct it.")
        }
        if let unixSocket {
            let fits = Self.isPath(unixSocket) && unixSocket.utf8.count <= 107
            try Self.require(fits, "The path of a unix socket must have 1 to 107 bytes and no NUL.")
        }
        if let proxy {
            try Self.require(Self.isProxy(proxy), "The proxy is not http://[user:password@]host:port. Correct it.")
        }
    }

    /// The pins in libcurl's form; nil when there are none.
    var pinText: String? {
        let pins = pins.map { "sha256//" + TextEncoding.base64.encode($0.rawRepresentation) }
        return pins.isEmpty ? nil : pins.joined(separator: ";")
    }

    private static func require(_ isGood: Bool, _ message: String) throws(TenonError) {
        guard isGood else { throw TenonError(.httpOption, message: message) }
    }

    private static func isPath(_ text: String) -> Bool { !text.isEmpty && !text.utf8.contains(0) }

    private static func isProxy(_ text: String) -> Bool {
        guard text.hasPrefix("http://") else { return false }
        let parts = text.dropFirst(7).split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count <= 2, let host = parts.last, let url = try? HTTPURL(parsing: "http://" + host) else {
            return false
        }
        return url.target == "/" && (parts.count == 1 || parts[0].utf8.allSatisfy(isUserInfo))
    }

    /// RFC 3986, 3.2.1.
    private static func isUserInfo(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || "-._~!$&'()*+,;=:%".utf8.contains(byte)
    }
}
