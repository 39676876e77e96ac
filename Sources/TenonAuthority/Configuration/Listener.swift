// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon

/// The address or the socket at which connections arrive.
package enum Listener: Equatable, Sendable {
    package struct TLS: Equatable, Sendable {
        /// Paths of PEM files.
        package var certificate: String
        package var key: String

        package init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    case tcp(address: String, port: Int, tls: TLS?)
    case unix(path: String)

    /// Whether only this machine can connect.
    package var isLocal: Bool {
        switch self {
        case .tcp(let address, _, _): Address.isLoopback(address)
        case .unix: true
        }
    }

    /// The listener for metrics. It must be an address of this machine, because anybody who can connect may read them.
    init(metrics section: inout ConfigurationSection) throws(TenonError) {
        self = try Listener(&section)
        guard case .tcp(_, _, .none) = self, isLocal else {
            throw section.mistake("must have a loopback \"address\" and a \"port\"")
        }
    }

    /// Whether TLS ends here, and not at a proxy.
    var hasTLS: Bool {
        if case .tcp(_, _, .some) = self { true } else { false }
    }

    /// - Parameters:
    ///   - hasProxy: whether TLS ends at a proxy; nil if that is not allowed.
    ///   - given: replaces the certificate and key of the section.
    init(
        _ section: inout ConfigurationSection, hasProxy: Bool? = nil, tls given: TLS? = nil
    ) throws(TenonError) {
        let path = try section.optional("unix", "the path of a socket", ConfigurationForm.path)
        let address = try section.optional("address", "an IP address", ConfigurationForm.address)
        let port = try section.optionalInteger("port", 0...65_535)
        let certificate = try section.optional("certificate", "the path of a PEM file", ConfigurationForm.path)
        let key = try section.optional("key", "the path of a PEM file", ConfigurationForm.path)
        if let path {
            guard address == nil, port == nil, certificate == nil, key == nil, given == nil else {
                throw section.mistake("must be either \"unix\", or \"address\" and \"port\"; only those can have TLS")
            }
            self = .unix(path: path)
            return
        }
        guard let address, let port else { throw section.mistake("needs \"unix\", or \"address\" and \"port\"") }
        guard (certificate == nil) == (key == nil) else {
            throw section.mistake("needs both \"certificate\" and \"key\", or neither")
        }
        var tls = given
        if given == nil, let certificate, let key { tls = TLS(certificate: certificate, key: key) }
        self = .tcp(address: address, port: port, tls: tls)
        guard tls != nil || isLocal || hasProxy == true else {
            throw section.mistake(
                "needs \"certificate\" and \"key\" on an address that is not loopback"
                    + (hasProxy != nil ? ", or \"behind_proxy\": true" : ""))
        }
    }
}

/// Checks the names of hosts, and tells which hosts are this machine.
package enum Address {
    /// An IPv4 or IPv6 address, without brackets.
    static func isNumeric(_ text: String) -> Bool { parsed(text) != nil }

    /// The canonical text of an address (RFC 5952). An IPv4-mapped IPv6 address becomes IPv4.
    package static func canonical(_ text: String) -> String? {
        guard let parsed = parsed(text) else { return nil }
        let (family, bytes) =
            switch parsed {
            case .four(let bytes): (AF_INET, bytes)
            case .six(let bytes) where bytes.starts(with: mapped): (AF_INET, Array(bytes.dropFirst(12)))
            case .six(let bytes): (AF_INET6, bytes)
            }
        var name = [CChar](repeating: 0, count: 64)
        guard inet_ntop(family, bytes, &name, socklen_t(name.count)) != nil else { return nil }
        return name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
    }

    /// Identifies the subscriber of an address: an IPv4 address, or an IPv6 /64 (decision: shares).
    package static func subscriber(_ address: String) -> String {
        guard case .six(let bytes) = parsed(address), !bytes.starts(with: mapped) else { return address }
        return TextEncoding.hex.encode(Array(bytes.prefix(8)))
    }

    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

    /// Whether the address is one that no other machine can reach.
    static func isLoopback(_ text: String) -> Bool {
        switch parsed(text) {
        case .four(let bytes): bytes[0] == 127
        case .six(let bytes): bytes == [UInt8](repeating: 0, count: 15) + [1]
        case nil: text == "localhost"
        }
    }

    /// A lower-case DNS name, an IPv4 address, or an IPv6 address in brackets.
    static func isHost(_ text: String) -> Bool {
        if text.hasPrefix("[") {
            guard text.hasSuffix("]"), case .six = parsed(String(text.dropFirst().dropLast())) else { return false }
            return text == text.lowercased()
        }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return text.utf8.count <= 253 && labels.allSatisfy(isLabel)
    }

    private static func isLabel(_ label: Substring) -> Bool {
        let isPlain = label.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
            default: false
            }
        }
        return isPlain && 1...63 ~= label.utf8.count && !label.hasPrefix("-") && !label.hasSuffix("-")
    }

    /// Whether an origin is on this machine.
    static func isLoopbackOrigin(_ origin: String) -> Bool {
        guard let start = origin.firstRange(of: "://")?.upperBound else { return false }
        return isLoopback(parts(String(origin[start...])).host.filter { $0 != "[" && $0 != "]" })
    }

    /// `scheme://host[:port]` in the form that is bound (decision: folded-activation): lower case, no default port,
    /// nothing after it; http only for this machine.
    static func isOrigin(_ text: String) -> Bool {
        for (scheme, defaultPort) in [("https://", "443"), ("http://", "80")] where text.hasPrefix(scheme) {
            let (host, port) = parts(String(text.dropFirst(scheme.count)))
            guard isHost(host), scheme == "https://" || isLoopback(host.filter { $0 != "[" && $0 != "]" }) else {
                return false
            }
            guard let port else { return true }
            return port != defaultPort && UInt16(port).map { $0 > 0 && String($0) == port } == true
        }
        return false
    }

    private static func parts(_ authority: String) -> (host: String, port: String?) {
        guard let colon = authority.lastIndex(of: ":"), authority.last != "]" else { return (authority, nil) }
        return (String(authority[..<colon]), String(authority[authority.index(after: colon)...]))
    }

    private enum Parsed {
        case four([UInt8])
        case six([UInt8])
    }

    private static func parsed(_ text: String) -> Parsed? {
        guard !text.utf8.contains(0) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 { return .four(Array(bytes.prefix(4))) }
        return inet_pton(AF_INET6, text, &bytes) == 1 ? .six(bytes) : nil
    }
}
