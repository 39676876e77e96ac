// SPDX-License-Identifier: Apache-2.0
public import Tenon

/// The path that is signed for a request.
public enum SigningPath {
    /// The path of `https://host/path?query#fragment`: query and fragment are not signed.
    ///
    /// - Parameter strippingIngest: for services behind a gateway that removes `/ingest`: `/ingest/v1/hsi` is signed as
    ///   `/v1/hsi`. Any other path is unchanged.
    /// - Throws: ``TenonError/Code/httpURL``; ``TenonError/Code/path`` for a path with `.` or `..`, which a client
    ///   resolves before it sends the request.
    public static func of(_ url: String, strippingIngest: Bool = false) throws(TenonError) -> String {
        let target = try HTTPURL(parsing: String(url.prefix { $0 != "#" })).target
        let path = target.prefix { $0 != "?" }
        guard !path.split(separator: "/").contains(where: isDots) else {
            throw TenonError(.path, message: "The path has dots, which a client would resolve. Resolve them first.")
        }
        return String(strippingIngest && path.hasPrefix("/ingest/v1/") ? path.dropFirst("/ingest".count) : path)
    }

    private static func isDots(_ segment: Substring) -> Bool {
        [".", ".."].contains(segment.lowercased().replacing("%2e", with: "."))
    }
}

extension DeviceIdentity {
    /// Signs a request by its URL; see ``SigningPath``. In version 2 the URL's host, whole path and query are signed.
    public func sign(
        _ method: String, url: String, strippingIngest: Bool = false, body: [UInt8] = [], contentType: String? = nil,
        contentEncoding: String? = nil
    ) async throws(TenonError) -> SignedRequest {
        try await sign(Self.parts(method, url, strippingIngest, contentType, contentEncoding), body: body)
    }

    /// Begins a request by its URL; the body is hashed piece by piece.
    public func request(
        _ method: String, url: String, strippingIngest: Bool = false, contentType: String? = nil,
        contentEncoding: String? = nil
    ) async throws(TenonError) -> RequestSigner {
        try await request(Self.parts(method, url, strippingIngest, contentType, contentEncoding))
    }

    /// Signs a request by its URL, and blocks the caller's thread.
    public func sign(
        _ method: String, url: String, strippingIngest: Bool = false, body: [UInt8] = [], contentType: String? = nil,
        contentEncoding: String? = nil
    ) throws(TenonError) -> SignedRequest {
        try sign(Self.parts(method, url, strippingIngest, contentType, contentEncoding), body: body)
    }

    /// Begins a request by its URL, and blocks the caller's thread.
    public func request(
        _ method: String, url: String, strippingIngest: Bool = false, contentType: String? = nil,
        contentEncoding: String? = nil
    ) throws(TenonError) -> RequestSigner {
        try request(Self.parts(method, url, strippingIngest, contentType, contentEncoding))
    }

    private static func parts(
        _ method: String, _ url: String, _ strippingIngest: Bool, _ contentType: String?, _ contentEncoding: String?
    ) throws(TenonError) -> RequestParts {
        let path = try SigningPath.of(url, strippingIngest: strippingIngest)
        var parts = try RequestParts(method, path: path, url: url)
        (parts.contentType, parts.contentEncoding) = (contentType, contentEncoding)
        return parts
    }
}

extension DeviceIdentity {
    /// The identity of this device at a Synheart service.
    ///
    /// - Parameters:
    ///   - keys: where the keys live, for example a TPM.
    ///   - transport: how the service is reached.
    ///   - attestationService: for the dialect ``Dialect/docs``, whose proofs carry a certificate.
    ///   - stateDirectory: the folder of the state; it is made with mode 0700 when it does not exist.
    ///   - log: receives the events of the identity, which contain no secrets.
    /// - Throws: an error of the folder, or ``TenonError/Code/httpURL`` when a development build is given the URL of
    ///   another machine.
    public convenience init(
        _ service: Synheart, keys: Keys, transport: any Transport, attestationService: AttestationService? = nil,
        stateDirectory: String, log: LogSink? = nil
    ) throws(TenonError) {
        try self.init(
            appID: service.appID, service: Service(service), keys: keys, transport: transport,
            attestationService: attestationService, stateDirectory: stateDirectory, log: log)
    }
}
