// SPDX-License-Identifier: Apache-2.0

/// What an attestation CA answers to an ``AttestRequest``: a secret that the TPM of that endorsement key alone can open,
/// for that AK alone.
public struct AttestAnswer: Hashable, Sendable {
    /// Bytes of an answer's body: larger ones are not read.
    public static let maxBytes = 65_536

    public var credential: Credential

    public init(_ credential: Credential) { self.credential = credential }

    /// Reads an answer. Whether the credential is one, the TPM says.
    ///
    /// - Throws: a `json...` or `base64...` code, or ``TenonError/Code/messageMember``, whose message names the member;
    ///   ``TenonError/Code/credentialForm`` when one is no TPM2B.
    public init(parsing body: [UInt8]) throws(TenonError) {
        let message = try MessageObject(parsing: body, maxBytes: AttestAnswer.maxBytes)
        self.init(
            Credential(
                idObject: try AttestAnswer.part("credential", of: message),
                encryptedSecret: try AttestAnswer.part("secret", of: message)))
    }

    /// TPM 2.0 Part 2, 10.4: two bytes of size, and as many bytes.
    private static func part(_ name: String, of message: MessageObject) throws(TenonError) -> [UInt8] {
        guard let part = try message.bytes(name, sizes: 1...CertificateLimits.credential) else {
            throw message.missing(name)
        }
        guard part.count > 2, Int(part[0]) << 8 | Int(part[1]) == part.count - 2 else {
            throw TenonError(.credentialForm, message: "The message's \(name) is no TPM2B.")
        }
        return part
    }

    /// The body.
    public func encoded() throws(TenonError) -> [UInt8] {
        let message: JSON = [
            "credential": JSON(base64: credential.idObject), "secret": JSON(base64: credential.encryptedSecret),
        ]
        return try message.encoded()
    }
}
