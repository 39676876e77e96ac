// SPDX-License-Identifier: Apache-2.0

/// What an attestation CA answers to a ``SecretRequest``: the AK's certificate and those above it.
public struct SecretAnswer: Hashable, Sendable {
    /// Bytes of an answer's body: larger ones are not read.
    public static let maxBytes = 65_536

    /// DER, leaf first.
    public var chain: [[UInt8]]

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
