// SPDX-License-Identifier: Apache-2.0

/// The headers to send with one request of an application, once. Sign again before you send it again.
public struct SignedRequest: Sendable {
    /// The headers, as they are to be added to the request. `Content-Type` and `Content-Encoding` are not among them: they
    /// are sent exactly as they were given when the request was signed.
    public let headers: [(name: String, value: String)]
    // A text is made of them when it is asked for: most are read in the headers only.
    private let values: any RequestValues

    package let parts: RequestParts
    /// nil when it was hashed as it came, and so cannot be signed again.
    package let body: [UInt8]?
    package let generation: Int
    /// Whether it replaces one that a service did not accept.
    let isSecond: Bool

    fileprivate init(
        _ request: UnsignedRequest, _ values: any RequestValues, _ headers: [(name: String, value: String)],
        generation: Int
    ) {
        (self.headers, self.values, self.generation) = (headers, values, generation)
        (parts, body, isSecond) = (request.parts, request.body, request.isSecond)
    }

    package var method: String { parts.method }
    package var path: String { parts.path }

    /// The service's id of the application.
    public var appID: String { values.appID }
    /// The service's id of the device.
    public var deviceID: String { values.deviceID }
    /// In version 1 base64 of DER; in version 2 the value of the header `Signature`.
    public var signature: String { values.signature }
    /// Unix seconds.
    public var timestamp: String { values.timestamp }
    /// A UUID.
    public var nonce: String { values.nonce }
    /// The version of what is signed: 1 or 2.
    public var signatureVersion: String { values.signatureVersion }
    /// The form of version 2; nil in version 1.
    public var form: RequestForm? { values.form }
}

/// What the headers of a signed request say, in each version of what is signed.
protocol RequestValues: Sendable {
    var appID: String { get }
    var deviceID: String { get }
    var signature: String { get }
    var timestamp: String { get }
    var nonce: String { get }
    var signatureVersion: String { get }
    var form: RequestForm? { get }
}

extension RequestHeaders: RequestValues {
    var form: RequestForm? { nil }
}

extension SignatureHeaders: RequestValues {
    var appID: String { base.appID }
    var deviceID: String { base.deviceID }
    var timestamp: String { String(base.created) }
    var nonce: String { base.nonce }
    var signatureVersion: String { "2" }
    var form: RequestForm? { base.form }
}

/// The request of an application whose body is hashed as it comes.
///
/// ```swift
/// var request = try identity.request("POST", path: "/v1/hsi")
/// for chunk in chunks { try request.update(chunk) }
/// let signed = try await request.sign()
/// ```
public struct RequestSigner: Sendable {
    private let identity: DeviceIdentity
    private var request: UnsignedRequest

    init(_ identity: DeviceIdentity, _ request: UnsignedRequest) { (self.identity, self.request) = (identity, request) }

    /// Adds bytes of the body as they are sent.
    public mutating func update(_ body: [UInt8]) throws(TenonError) { try request.update(body) }

    /// Signs the request with the current key, if the device may sign now. Both may have changed since it was begun.
    public consuming func sign() async throws(TenonError) -> SignedRequest {
        try await identity.sign(request, by: identity.signer())
    }

    /// The same on the caller's thread, which it blocks.
    public consuming func sign() throws(TenonError) -> SignedRequest {
        try identity.sign(request, by: identity.signer())
    }
}

/// What a request has beside its body. Version 1 signs the first two.
package struct RequestParts: Hashable, Sendable {
    package var method: String
    package var path: String
    /// The path as it is sent, which version 2 signs; nil if it is the same.
    package var sentPath: String?
    /// As in the URL, in lower case, with the port unless it is the scheme's own; nil is the service's own host.
    package var host: String?
    /// Whether the host is known to be reached over TLS.
    package var isSecure = false
    /// Without its question mark; nil for a request without a query.
    package var query: String?
    /// nil exactly if the request does not have the header.
    package var contentType: String?
    package var contentEncoding: String?
    /// The form of version 2 that the caller insists on.
    package var form: RequestForm?

    package init(
        _ method: String, path: String, host: String? = nil, query: String? = nil, contentType: String? = nil,
        contentEncoding: String? = nil, form: RequestForm? = nil
    ) {
        (self.method, self.path, self.host, self.query) = (method, path, host, query)
        (self.contentType, self.contentEncoding, self.form) = (contentType, contentEncoding, form)
    }

    /// A request to a URL.
    ///
    /// - Parameter path: the one that version 1 signs.
    package init(_ method: String, path: String, url text: String) throws(TenonError) {
        let url = try HTTPURL(parsing: String(text.prefix { $0 != "#" }))
        let target = url.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        self.init(
            method, path: path, host: String(url.origin.drop { $0 != "/" }.dropFirst(2)),
            query: target.count == 2 ? String(target[1]) : nil)
        (sentPath, isSecure) = (String(target[0]), url.isSecure)
    }

    func target(at host: String) -> RequestTarget {
        RequestTarget(
            method, authority: self.host ?? host, path: sentPath ?? path, query: query, contentType: contentType,
            contentEncoding: contentEncoding)
    }
}

/// A request that is to be signed.
struct UnsignedRequest: Sendable {
    /// The part of it that is hashed, by version.
    enum Hashed {
        /// With the time on the service's clock.
        case version1(RequestMessage, timestamp: String)
        case version2(ContentHash, RequestForm?)
    }

    let parts: RequestParts
    /// nil when it is hashed as it comes.
    let body: [UInt8]?
    let isSecond: Bool
    private(set) var hashed: Hashed

    init(_ parts: RequestParts, _ body: [UInt8]?, for signer: Signer, isSecond: Bool = false) throws(TenonError) {
        (self.parts, self.body, self.isSecond) = (parts, body, isSecond)
        switch signer.choice(for: parts) {
        case .version1:
            hashed = .version1(
                try RequestMessage(method: parts.method, path: parts.path, timestamp: signer.timestamp),
                timestamp: signer.timestamp)
        case .version2(let form): hashed = .version2(try ContentHash(), form ?? parts.form)
        }
        if let body { try update(body) }
    }

    mutating func update(_ body: [UInt8]) throws(TenonError) {
        switch hashed {
        case .version1(var message, let timestamp):
            try message.update(body.span)
            hashed = .version1(message, timestamp: timestamp)
        case .version2(var content, let form):
            try content.update(body)
            hashed = .version2(content, form)
        }
    }
}

/// A key that may sign now, and what goes with its signatures.
struct Signer: Sendable {
    let key: any DeviceKey
    let generation: Int
    let appID: String
    let deviceID: String
    /// Now, on the service's clock, in Unix seconds.
    let time: Int64
    /// nil as long as the service has announced nothing.
    let terms: SigningTerms?
    let context: FlowContext

    var timestamp: String { String(time) }
    /// The service's own host.
    var host: String { context.authority }

    func choice(for parts: RequestParts) -> SigningTerms.Choice {
        terms.map { $0.choice(for: parts.host ?? host) } ?? .version1
    }

    func signed(_ request: UnsignedRequest, _ signature: Signature, timestamp: String) throws(TenonError)
        -> SignedRequest
    {
        let values = try RequestHeaders(
            signature: signature, appID: appID, deviceID: deviceID, timestamp: timestamp,
            nonce: RequestHeaders.makeNonce())
        return SignedRequest(request, values, try context.profile.headers(values), generation: generation)
    }

    func signed(_ request: UnsignedRequest, _ values: SignatureHeaders) throws(TenonError) -> SignedRequest {
        SignedRequest(request, values, try context.profile.headers(values), generation: generation)
    }
}
