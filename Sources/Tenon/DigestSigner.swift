// SPDX-License-Identifier: Apache-2.0

/// A P-256 key that signs whatever it is given, as the key of an authority does. It is no key of a device: those are a
/// ``DeviceKey``.
///
/// It may be called by many threads at once, and blocks its caller for as long as the key takes.
public protocol DigestSigner: Sendable {
    /// The public half; it never changes.
    var publicKey: PublicKey { get }

    /// Signs a digest.
    func signature(for digest: Digest) throws(TenonError) -> Signature
}
