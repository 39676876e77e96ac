// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// A message that the key of a device signs.
///
/// Each kind has a form of its own, so that no signature for one passes for another (decision: message-kinds). There is
/// none for a bare digest: who may have any digest signed may have any message signed.
public enum SignableMessage: Sendable {
    /// A request. Its digest is ``RequestMessage/finish()``: SHA-256 of `METHOD \n path \n timestamp \n body`.
    case request(RequestMessage)
    /// The key that is to take this one's place. Its digest is the SHA-256 of ``PublicKey/x963Representation``.
    case rotation(to: PublicKey)
    /// Client data: a JSON object that does not begin as an event does, else ``TenonError/Code/clientData``.
    case clientData([UInt8])
    /// A KERI event: a JSON object that begins with `{"v":"KERI`, else ``TenonError/Code/event``.
    case event([UInt8])
    /// A presentation of a credential in KERI: its SAID, the verifier's name and the nonce that the verifier chose, else
    /// ``TenonError/Code/presentation``. Its digest is that of the three with a NUL between them.
    case presentation(credential: String, audience: String, nonce: [UInt8])
    /// Data that another program chose. What could be taken for another kind, and what holds a NUL, is refused with
    /// ``TenonError/Code/dataIsMessage``.
    case plainData([UInt8])
    /// The signing input of a JWS (RFC 7515, 5.1): the base64url of a JSON object, a dot, and base64url, else
    /// ``TenonError/Code/jws``.
    case jws(String)
    /// Client data whose hash is signed instead of itself, so that it is hashed twice.
    case clientDataHash([UInt8])
    /// The CertificationRequestInfo of a PKCS #10 request (RFC 2986, 4.1), in DER.
    case certificationRequest([UInt8])
}

/// A P-256 key that signs what a device says: the seam between Tenon and what holds the key.
///
/// An implementation signs the SHA-256 of the message's own bytes, and refuses a message that does not have the form of
/// its kind with the code that ``SignableMessage`` names.
///
/// Any number of tasks and threads may call it at once. A signature that nobody waits for is lost, and nothing else.
public protocol DeviceKey: Sendable {
    /// The public half; it never changes.
    var publicKey: PublicKey { get }

    /// Whether the private half cannot leave the device that holds it.
    var isHardware: Bool { get }

    /// Signs a message. It never blocks a thread of Swift's cooperative pool: hardware takes up to 200 ms, so a key in
    /// hardware waits on a thread of its own.
    func signature(for message: SignableMessage) async throws(TenonError) -> Signature

    /// Signs a message on the caller's thread, which it blocks. Not for asynchronous code.
    func blockingSignature(for message: SignableMessage) throws(TenonError) -> Signature

    /// Signs a request of signature version 2 in the plain form. Another form is ``TenonError/Code/flags``.
    func signature(for base: SignatureBase) async throws(TenonError) -> Signature

    /// Does the same on the caller's thread, which it blocks.
    func blockingSignature(for base: SignatureBase) throws(TenonError) -> Signature

    /// Signs the requests of a batch with one signature, whose s is at most n/2. The batch is asked for its members on
    /// the thread that signs, when the key's turn has come.
    func signature(for batch: RequestBatch) async throws(TenonError) -> BatchSignature
}

// A key may know version 1 of request signing only.
extension DeviceKey {
    /// Refuses: this key signs requests of version 1 only.
    public func signature(for base: SignatureBase) async throws(TenonError) -> Signature { throw .onlyVersion1 }

    /// Refuses: this key signs requests of version 1 only.
    public func blockingSignature(for base: SignatureBase) throws(TenonError) -> Signature { throw .onlyVersion1 }

    /// Refuses: this key signs requests of version 1 only.
    public func signature(for batch: RequestBatch) async throws(TenonError) -> BatchSignature { throw .onlyVersion1 }
}

extension TenonError {
    fileprivate static let onlyVersion1 = TenonError(
        .serviceStep, message: "This key does not sign requests of signature version 2.")
}

/// A P-256 key that signs any digest, like an authority's key. It is not a device's key: those are a
/// ``DeviceKey``.
///
/// Any number of threads may call it at once. It blocks its caller for as long as the key takes.
public protocol DigestSigner: Sendable {
    /// The public half; it never changes.
    var publicKey: PublicKey { get }

    /// Signs a digest.
    func signature(for digest: Digest) throws(TenonError) -> Signature
}

/// A key in memory, for load tools, tests and development. It is not a device identity: anyone who reads
/// the memory has it, and ``isHardware`` is false.
///
/// It computes and never waits, so that its asynchronous functions do not leave the caller's thread.
package final class SoftwareKey: DeviceKey {
    /// The key itself, with the function for bare digests.
    package let key: CoreKey

    package var publicKey: PublicKey { key.publicKey }
    package var isHardware: Bool { key.isHardware }

    /// Makes a new key.
    ///
    /// - Parameter signsDigests: gives the capability to sign bare digests.
    package init(signsDigests: Bool = false) throws(TenonError) {
        let flags = signsDigests ? UInt32(TENON_KEY_SIGNS_DIGESTS) : 0
        var handle: OpaquePointer?
        try TenonError.check(tenon_software_key_generate(&handle, flags))
        key = try SoftwareKey.adopt(handle)
    }

    /// A key from its 32-byte big-endian scalar, for test vectors.
    ///
    /// - Parameters:
    ///   - deterministic: nonces by RFC 6979. Not for requests: two of one second with one body have one signature.
    ///   - signsDigests: gives the capability to sign bare digests.
    /// - Throws: ``TenonError/Code/scalarRange`` when the scalar is not in 1 ... n-1.
    package init(scalar: [UInt8], deterministic: Bool = false, signsDigests: Bool = false) throws(TenonError) {
        let flags =
            (deterministic ? UInt32(TENON_KEY_DETERMINISTIC) : 0)
            | (signsDigests ? UInt32(TENON_KEY_SIGNS_DIGESTS) : 0)
        var handle: OpaquePointer?
        try TenonError.check(tenon_software_key_import(&handle, scalar.span, flags))
        key = try SoftwareKey.adopt(handle)
    }

    private static func adopt(_ handle: OpaquePointer?) throws(TenonError) -> CoreKey {
        guard let handle else { throw TenonError(status: tenon_status(TENON_ERROR_NULL)) }
        return try CoreKey(adopting: handle)
    }

    package func signature(for message: SignableMessage) async throws(TenonError) -> Signature {
        try key.signature(for: message)
    }

    package func blockingSignature(for message: SignableMessage) throws(TenonError) -> Signature {
        try key.signature(for: message)
    }

    package func signature(for base: SignatureBase) async throws(TenonError) -> Signature {
        try key.signature(for: base)
    }

    package func blockingSignature(for base: SignatureBase) throws(TenonError) -> Signature {
        try key.signature(for: base)
    }

    package func signature(for batch: RequestBatch) async throws(TenonError) -> BatchSignature {
        try key.signature(for: batch)
    }
}

extension SoftwareKey: DigestSigner {
    package func signature(for digest: Digest) throws(TenonError) -> Signature { try key.signature(for: digest) }
}
