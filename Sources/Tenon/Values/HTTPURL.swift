// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A URL to which something may be sent: `https`, or `http` for who says so. Only forms that every reader takes the
/// same way: no user, no fragment, no escaped or Unicode host, no port or IPv4 address in an odd spelling.
package struct HTTPURL: Hashable, Sendable {
    package let isSecure: Bool
    /// In lower case; an IPv6 address in its brackets.
    package let host: String
    package let port: Int
    /// Path and query as they are sent; they begin with `/`.
    package let target: String

    /// - Throws: ``TenonError/Code/httpURL``.
    package init(parsing text: String) throws(TenonError) {
        guard let url = Self(text: text) else {
            throw TenonError(
                .httpURL, message: "The URL is not https://host[:port][/path][?query] in plain ASCII. Correct it.")
        }
        self = url
    }

    private init?(text: String) {
        let bytes = Array(text.utf8)
        guard bytes.allSatisfy(Self.isAllowed) else { return nil }
        let lower = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: lower.hasPrefix) else { return nil }
        let rest = bytes.dropFirst(scheme.utf8.count)
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        isSecure = scheme == "https://"
        let authority = String(decoding: rest[..<end], as: UTF8.self).lowercased()
        guard let (host, port) = Self.split(authority, defaultPort: isSecure ? 443 : 80) else { return nil }
        self.host = host
        self.port = port
        let target = String(decoding: rest[end...], as: UTF8.self)
        self.target = target.hasPrefix("/") ? target : "/" + target
    }

    /// `scheme://host[:port]` in lower case, the port that goes without saying left out (decision: folded-activation).
    package var origin: String {
        let scheme = isSecure ? "https" : "http"
        return port == (isSecure ? 443 : 80) ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
    }

    /// Whether the host is this machine by its very name: 127.0.0.0/8, ::1 or `localhost`.
    package var isLoopback: Bool {
        host == "localhost" || Self.ipv4(host)?.first == 127 || Self.ipv6(host) == Array(repeating: 0, count: 15) + [1]
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        0x21...0x7e ~= byte && !"\"#<>\\^`{|}".utf8.contains(byte)
    }

    private static func split(_ authority: String, defaultPort: Int) -> (host: String, port: Int)? {
        let bracket = authority.hasPrefix("[") ? authority.firstIndex(of: "]") : nil
        let end = bracket.map(authority.index(after:)) ?? authority.firstIndex(of: ":") ?? authority.endIndex
        let host = String(authority[..<end])
        let rest = authority[end...]
        guard isHost(host) || ipv6(host) != nil else { return nil }
        if rest.isEmpty { return (host, defaultPort) }
        guard rest.hasPrefix(":"), let port = port(rest.dropFirst()) else { return nil }
        return (host, port)
    }

    private static func port(_ text: Substring) -> Int? {
        guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), !text.hasPrefix("0"), let port = Int(text) else {
            return nil
        }
        return port <= 65_535 ? port : nil
    }

    /// Labels; where the last one begins with a digit it is an IPv4 address.
    private static func isHost(_ host: String) -> Bool {
        let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard host.utf8.count <= 253, let last = labels.last?.first else { return false }
        if 0x30...0x39 ~= last { return ipv4(host) != nil }
        return labels.allSatisfy { label in
            1...63 ~= label.count && label.allSatisfy { isLetterOrDigit($0) || $0 == 0x2d || $0 == 0x5f }
        }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        0x61...0x7a ~= byte || 0x30...0x39 ~= byte
    }

    /// Four numbers without leading zeros, which is all that inet_pton takes.
    private static func ipv4(_ host: String) -> [UInt8]? { address(host, AF_INET, 4) }

    private static func ipv6(_ host: String) -> [UInt8]? {
        guard host.hasPrefix("["), host.hasSuffix("]") else { return nil }
        return address(String(host.dropFirst().dropLast()), AF_INET6, 16)
    }

    private static func address(_ text: String, _ family: Int32, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }
}
