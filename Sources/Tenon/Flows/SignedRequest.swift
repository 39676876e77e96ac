// SPDX-License-Identifier: Apache-2.0

/// The headers to send with one request of an application, once. Sign again before you send it again.
public struct SignedRequest: Sendable {
    /// The headers, as they are to be added to the request.
    public let headers: [(name: String, value: String)]
    // A text is made of them when it is asked for: most are read in the headers only.
    private let values: RequestHeaders

    package let method: String
    package let path: String
    /// nil when it was hashed as it came, and so cannot be signed again.
    package let body: [UInt8]?
    package let generation: Int
    /// Whether it replaces one that a service did not accept.
    let isSecond: Bool

    fileprivate init(
        _ request: UnsignedRequest, _ values: RequestHeaders, _ headers: [(name: String, value: String)],
        generation: Int
    ) {
        (self.headers, self.values, self.generation) = (headers, values, generation)
        (method, path, body, isSecond) = (request.method, request.path, request.body, request.isSecond)
    }

    /// The service's id of the application.
    public var appID: String { values.appID }
    /// The service's id of the device.
    public var deviceID: String { values.deviceID }
    /// base64 of DER.
    public var signature: String { values.signature }
    /// Unix seconds.
    public var timestamp: String { values.timestamp }
    /// A UUID.
    public var nonce: String { values.nonce }
    /// The version of what is signed.
    public var signatureVersion: String { values.signatureVersion }
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
    public mutating func update(_ body: [UInt8]) throws(TenonError) { try request.message.update(body.span) }

    /// Signs the request with the current key, if the device may sign now. Both may have changed since it was begun.
    public consuming func sign() async throws(TenonError) -> SignedRequest {
        try await identity.sign(request, by: identity.signer())
    }

    /// The same on the caller's thread, which it blocks.
    public consuming func sign() throws(TenonError) -> SignedRequest {
        try identity.sign(request, by: identity.signer())
    }
}

/// A request that is to be signed.
struct UnsignedRequest: Sendable {
    let method: String
    let path: String
    /// nil when it is hashed as it comes.
    let body: [UInt8]?
    /// On the service's clock.
    let timestamp: String
    let isSecond: Bool
    var message: RequestMessage

    init(
        _ method: String, _ path: String, _ body: [UInt8]?, _ timestamp: String, isSecond: Bool = false
    ) throws(TenonError) {
        (self.method, self.path, self.body) = (method, path, body)
        (self.timestamp, self.isSecond) = (timestamp, isSecond)
        message = try RequestMessage(method: method, path: path, timestamp: timestamp)
        if let body { try message.update(body.span) }
    }
}

/// A key that may sign now, and what goes with its signatures.
struct Signer: Sendable {
    let key: any DeviceKey
    let generation: Int
    let appID: String
    let deviceID: String
    let profile: any ServiceProfile
    /// Now, on the service's clock.
    let timestamp: String

    func signed(_ request: UnsignedRequest, _ signature: Signature) throws(TenonError) -> SignedRequest {
        let values = try RequestHeaders(
            signature: signature, appID: appID, deviceID: deviceID, timestamp: request.timestamp,
            nonce: RequestHeaders.makeNonce())
        return SignedRequest(request, values, try profile.headers(values), generation: generation)
    }
}
