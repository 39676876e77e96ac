// SPDX-License-Identifier: Apache-2.0
public import Tenon

extension HTTPTransport {
    /// Whom to trust, and which way to take.
    public struct Options: Sendable {
        /// A PEM file of the CAs to trust instead of the system's.
        public var caFile: String?
        /// The SHA-256 of SubjectPublicKeyInfos. When there are any, the server's certificate has to have one of these
        /// keys, besides being good.
        public var pins: [Digest]
        /// `http://[user:password@]host:port`, through which servers are reached that are not this machine.
        public var proxy: String?
        /// The path of a unix socket to connect to, whatever host the URL has.
        public var unixSocket: String?
        /// How long to wait for a connection, TLS included.
        public var connectTimeout: Duration
        /// How long an exchange may take, the connection included.
        public var exchangeTimeout: Duration

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
            try Self.require(Self.isPath(caFile), "The path of the CA file is empty or holds a NUL; correct it.")
        }
        if let unixSocket {
            let fits = Self.isPath(unixSocket) && unixSocket.utf8.count <= 107
            try Self.require(fits, "The path of a unix socket has 1 to 107 bytes and no NUL; correct it.")
        }
        if let proxy {
            try Self.require(Self.isProxy(proxy), "The proxy is not http://[user:password@]host:port; correct it.")
        }
    }

    /// The pins as libcurl takes them; nil when there are none.
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
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~!$&'()*+,;=:%".utf8.contains(byte)
        }
    }
}
