// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// Where the service is. Two texts that mean one place are equal (docs/synheart.md).
struct ServiceURL: Hashable, Sendable {
    /// `scheme://host[:port]` in lower case, the port that goes without saying left out.
    let origin: String
    /// The path under which the service is mounted, without a slash at its end.
    let path: String

    /// Takes `https://host[:port][/path]`; `http` only where no network lies between.
    ///
    /// - Throws: ``TenonError/Code/serviceURL``.
    init(_ text: String) throws(TenonError) {
        guard let url = try? HTTPURL(parsing: text), url.isLoopback || url.isSecure && !DevMode.isOn else {
            throw Self.refusal
        }
        var path = Substring(url.target)
        while path.hasSuffix("/") { path.removeLast() }
        // A client may resolve dots and escapes before it sends them, and the signature is over what we know.
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        guard text.utf8.count <= 1024, segments.allSatisfy(Self.isPlain) else { throw Self.refusal }
        origin = url.origin
        self.path = String(path)
    }

    /// Without a slash at its end.
    var text: String { origin + path }

    private static func isPlain(_ segment: Substring) -> Bool {
        guard !segment.isEmpty, segment != ".", segment != ".." else { return false }
        return segment.utf8.allSatisfy { byte in
            0x30...0x39 ~= byte || 0x41...0x5a ~= byte || 0x61...0x7a ~= byte || "-._~".utf8.contains(byte)
        }
    }

    private static let refusal = TenonError(
        .serviceURL,
        message: "The base URL is not https://host[:port][/path], or http:// of this machine itself; correct it.")
}
