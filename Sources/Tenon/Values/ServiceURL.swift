// SPDX-License-Identifier: Apache-2.0

/// The URL of the service, in a normal form: one place is one identity.
package struct ServiceURL: Hashable, Sendable {
    /// `scheme://host[:port]` in lower case, without the default port.
    package let origin: String
    /// The path under which the service is mounted, without a trailing slash.
    package let path: String

    /// Accepts `https://host[:port][/path]`; `http` only for this machine.
    ///
    /// - Throws: ``TenonError/Code/serviceURL``.
    package init(_ text: String) throws(TenonError) {
        guard let url = try? HTTPURL(parsing: text), url.isLoopback || url.isSecure && !Build.isDev else {
            throw Self.refusal
        }
        var path = Substring(url.target)
        while path.hasSuffix("/") { path.removeLast() }
        // A client may resolve dots and escapes before it sends the path, and then the signature does not match.
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        guard text.utf8.count <= 1024, segments.allSatisfy(Self.isPlain) else { throw Self.refusal }
        origin = url.origin
        self.path = String(path)
    }

    /// The URL without a trailing slash.
    package var text: String { origin + path }

    private static func isPlain(_ segment: Substring) -> Bool {
        guard !segment.isEmpty, segment != ".", segment != ".." else { return false }
        return segment.utf8.allSatisfy { byte in
            0x30...0x39 ~= byte || 0x41...0x5a ~= byte || 0x61...0x7a ~= byte || "-._~".utf8.contains(byte)
        }
    }

    private static let refusal = TenonError(
        .serviceURL,
        message: "The base URL is not https://host[:port][/path], or http:// of this machine. Correct it.")
}
