// SPDX-License-Identifier: Apache-2.0

/// What a device says when it has opened the credential: the body of `POST /secret`. The secret itself names what it
/// belongs to, and is worth nothing any more once it was sent.
public struct SecretRequest: Equatable, Sendable {
    /// Bytes of a request's body: larger ones are not read.
    public static let maxBytes = 1_024

    /// TPM 2.0 Part 1, 24.4: at most a digest of the endorsement key's nameAlg.
    static let secretSizes = 1...64

    public var secret: Secret

    public init(_ secret: Secret) { self.secret = secret }

    /// Reads a request.
    ///
    /// - Throws: a `json...` or `base64...` code, or ``TenonError/Code/messageMember``, whose message names the member.
    public init(parsing body: [UInt8]) throws(TenonError) {
        let message = try MessageObject(parsing: body, maxBytes: SecretRequest.maxBytes)
        guard let secret = try message.bytes("secret", sizes: SecretRequest.secretSizes) else {
            throw message.missing("secret")
        }
        self.init(Secret(copying: secret.span))
    }

    /// The body, which holds the secret: no log holds it.
    public func encoded() throws(TenonError) -> [UInt8] {
        let message: JSON = ["secret": secret.withBytes { .string(TextEncoding.base64.encode($0)) }]
        return try message.encoded()
    }

    /// Under what the ``PendingActivation`` of this secret is kept: its SHA-256.
    public var digest: Digest {
        get throws(TenonError) { try secret.digest }
    }
}

extension Secret {
    var digest: Digest {
        get throws(TenonError) {
            try withBytes { bytes throws(TenonError) in try Digest(hashing: bytes) }
        }
    }
}
