// SPDX-License-Identifier: Apache-2.0

/// A P-256 key that signs what a device says: the seam between Tenon and what holds the key.
///
/// There is one function for each kind of message and none for a bare digest: who may have any digest signed may have
/// any message signed. An implementation builds the message's own bytes, as each function says, and signs their
/// SHA-256; a message that does not have the form of its kind is refused with the code that is named.
///
/// The asynchronous functions never block a thread of Swift's cooperative pool: hardware takes up to 200 ms, so an
/// implementation over hardware waits on a thread of its own. They may be called from many tasks at once. A signature
/// that was asked for and not waited for is lost, and nothing else.
public protocol DeviceKey: Sendable {
    /// The public half; it never changes.
    var publicKey: PublicKey { get }

    /// Whether the private half cannot leave the device that holds it.
    var isHardware: Bool { get }

    /// Signs a request: SHA-256 of `METHOD \n path \n timestamp \n body`, which is the message's
    /// ``RequestMessage/finish()``.
    func signature(for request: RequestMessage) async throws(TenonError) -> Signature

    /// The same on the caller's thread, which it blocks. Not for asynchronous code.
    func blockingSignature(for request: RequestMessage) throws(TenonError) -> Signature

    /// Signs the key that is to take this one's place: SHA-256 of its ``PublicKey/x963Representation``.
    func signature(forRotationTo newKey: PublicKey) async throws(TenonError) -> Signature

    /// Signs client data: a JSON object that does not begin as an event does, else ``TenonError/Code/clientData``.
    func signature(forClientData clientData: [UInt8]) async throws(TenonError) -> Signature

    /// Signs a KERI event: a JSON object that begins with `{"v":"KERI`, else ``TenonError/Code/event``.
    func signature(forEvent event: [UInt8]) async throws(TenonError) -> Signature
}
