// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A request of a device as a backend knows it, for ``AuthorityService/verify(_:accepting:)``.
package struct DeviceRequest: Sendable {
    /// What the signature is over.
    package enum Content: Sendable {
        case body([UInt8])
        /// The SHA-256 of the whole message, of somebody who is trusted to have computed it.
        case digest(Digest)
    }

    package var method: String
    /// The path as the device signs it.
    package var path: String
    /// Whether a query stood behind it, which version 1 does not sign.
    package var hasQuery: Bool
    package var headers: SignedHeaders
    package var content: Content

    package init(
        method: String, path: String, hasQuery: Bool, headers: SignedHeaders, content: Content
    ) {
        self.method = method
        self.path = path
        self.hasQuery = hasQuery
        self.headers = headers
        self.content = content
    }

    init(_ request: AuthorityRequest) throws(Refusal) {
        self.init(
            method: request.method, path: request.path, hasQuery: request.query != nil,
            headers: try SignedHeaders { name throws(Refusal) in try request.header(name) },
            content: .body(request.body))
    }

    /// Whatever the method's name is, only two of them promise that it does not.
    var mayChangeSomething: Bool { method != "GET" && method != "HEAD" }

    /// What the key signed.
    func digest() throws(Refusal) -> Digest {
        try refusing(Refusal.init(form:)) { () throws(TenonError) in
            var message = try RequestMessage(method: method, path: path, timestamp: headers.timestampText)
            switch content {
            case .digest(let digest): return digest
            case .body(let body):
                try message.update(body.span)
                return try message.finish()
            }
        }
    }
}

/// A request that is good, and new.
package struct VerifiedRequest: Sendable {
    package let device: Device
    /// The key that signed: the device's present one, or for who accepts it the one before.
    package let key: PublicKey
    package let headers: SignedHeaders
}
