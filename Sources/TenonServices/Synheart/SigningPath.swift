// SPDX-License-Identifier: Apache-2.0
public import Tenon

/// The path of a request as it is signed.
public enum SigningPath {
    /// Takes the path out of `https://host/path?query#fragment`: query and fragment are not signed.
    ///
    /// - Parameter strippingIngest: for services that are mounted below `/ingest`, which their gateway takes off:
    ///   `/ingest/v1/hsi` is signed as `/v1/hsi`. Any other path stays as it is.
    /// - Throws: ``TenonError/Code/httpURL``; ``TenonError/Code/path`` for a path with `.` or `..`, which a client
    ///   resolves before it is sent.
    public static func of(_ url: String, strippingIngest: Bool = false) throws(TenonError) -> String {
        let target = try HTTPURL(parsing: String(url.prefix { $0 != "#" })).target
        let path = target.prefix { $0 != "?" }
        guard !path.split(separator: "/").contains(where: isDots) else {
            throw TenonError(.path, message: "The path has dots that a client resolves; resolve them first.")
        }
        return String(strippingIngest && path.hasPrefix("/ingest/v1/") ? path.dropFirst("/ingest".count) : path)
    }

    private static func isDots(_ segment: Substring) -> Bool {
        [".", ".."].contains(segment.lowercased().replacing("%2e", with: "."))
    }
}

extension DeviceIdentity {
    /// Signs a request by its URL, see ``SigningPath``.
    public func sign(
        _ method: String, url: String, strippingIngest: Bool = false, body: [UInt8] = []
    ) async throws(TenonError) -> SignedRequest {
        try await sign(method, path: try SigningPath.of(url, strippingIngest: strippingIngest), body: body)
    }

    /// Begins a request whose body is hashed as it comes.
    public func request(
        _ method: String, url: String, strippingIngest: Bool = false
    ) async throws(TenonError) -> RequestSigner {
        try await request(method, path: try SigningPath.of(url, strippingIngest: strippingIngest))
    }

    /// The same on the caller's thread, which it blocks.
    public func sign(
        _ method: String, url: String, strippingIngest: Bool = false, body: [UInt8] = []
    ) throws(TenonError) -> SignedRequest {
        try sign(method, path: try SigningPath.of(url, strippingIngest: strippingIngest), body: body)
    }

    /// The same on the caller's thread, which it blocks.
    public func request(
        _ method: String, url: String, strippingIngest: Bool = false
    ) throws(TenonError) -> RequestSigner {
        try request(method, path: try SigningPath.of(url, strippingIngest: strippingIngest))
    }
}
