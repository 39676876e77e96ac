// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// A device sends this after it has opened the credential: the body of `POST /secret`. The secret alone identifies the
/// request to which it belongs, and is worthless once it was sent.
public struct SecretRequest: Equatable, Sendable {
    /// Bytes of a request's body: larger ones are not read.
    public static let maxBytes = 1_024

    /// TPM 2.0 Part 1, 24.4: at most a digest of the endorsement key's nameAlg.
    static let secretSizes = 1...64

    /// The secret that the TPM opened.
    public var secret: Secret

    /// Makes a request that shows a secret.
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

/// An attestation CA's answer to a ``SecretRequest``: the AK's certificate and those above it.
public struct SecretAnswer: Hashable, Sendable {
    /// Bytes of an answer's body: larger ones are not read.
    public static let maxBytes = 65_536

    /// DER, leaf first.
    public var chain: [[UInt8]]

    /// Makes an answer of certificates, leaf first.
    public init(chain: [[UInt8]]) { self.chain = chain }

    /// Reads an answer. A device keeps the chain only when ``verify(for:roots:now:)`` says so.
    ///
    /// - Throws: a `json...` or `base64...` code, or ``TenonError/Code/messageMember``, whose message names the member.
    public init(parsing body: [UInt8]) throws(TenonError) {
        let message = try MessageObject(parsing: body, maxBytes: SecretAnswer.maxBytes)
        guard let chain = try message.certificates("chain") else { throw message.missing("chain") }
        guard !chain.isEmpty else { throw message.refusal("chain", "is empty") }
        self.init(chain: chain)
    }

    /// The body.
    public func encoded() throws(TenonError) -> [UInt8] {
        let message: JSON = ["chain": JSON(base64: chain)]
        return try message.encoded()
    }
}

extension SecretAnswer {
    /// Checks that this is a certificate of this AK, which chains to one of the roots: before it is kept.
    ///
    /// - Parameters:
    ///   - roots: certificates (DER) of authorities. Without any of them nothing is accepted.
    ///   - now: Unix seconds.
    /// - Throws: the code of the first rule that does not hold; ``TenonError/Code/rule19PublicKey`` when it is another
    ///   key's.
    public func verify(for ak: PublicKey, roots: [[UInt8]], now: Int64) throws(TenonError) {
        let policy = ProofPolicy(trust: .roots(roots), now: now)
        let status = chain.withCoreBytes { chain, count in
            policy.withCore { policy in
                withUnsafePointer(to: ak.core) {
                    tenon_ak_certificate_verify(
                        nil, chain?.assumingMemoryBound(to: tenon_bytes.self), count, $0, policy)
                }
            }
        }
        try TenonError.check(status)
    }
}
