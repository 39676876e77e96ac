// SPDX-License-Identifier: Apache-2.0

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
}

/// A P-256 key that signs whatever it is given, as the key of an authority does. It is no key of a device: those are a
/// ``DeviceKey``.
///
/// Any number of threads may call it at once. It blocks its caller for as long as the key takes.
public protocol DigestSigner: Sendable {
    /// The public half; it never changes.
    var publicKey: PublicKey { get }

    /// Signs a digest.
    func signature(for digest: Digest) throws(TenonError) -> Signature
}
