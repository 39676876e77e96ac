// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// A public key made ready once, for whoever verifies with it more than once.
public final class Verifier: Sendable {
    /// The key that is verified with.
    public let publicKey: PublicKey
    // The core's verifier is read-only once it is made: any number of threads may use it.
    private nonisolated(unsafe) let handle: OpaquePointer?

    public init(_ publicKey: PublicKey) throws(TenonError) {
        var handle: OpaquePointer?
        let status = withUnsafePointer(to: publicKey.core) { tenon_verifier_new(&handle, $0) }
        try TenonError.check(status)
        self.publicKey = publicKey
        self.handle = handle
    }

    deinit {
        var handle = handle
        tenon_verifier_free(&handle)
    }

    /// Verifies a signature over a digest. High s is accepted.
    ///
    /// - Throws: ``TenonError/Code/signatureInvalid`` for a forgery.
    public func verify(_ signature: Signature, for digest: Digest) throws(TenonError) {
        let status = withUnsafePointer(to: digest.core) { digest in
            withUnsafePointer(to: signature.core) { tenon_verifier_verify(handle, digest, $0) }
        }
        try TenonError.check(status)
    }

    /// Whether the key made the signature over the digest. Any failure is false.
    public func isValidSignature(_ signature: Signature, for digest: Digest) -> Bool {
        do throws(TenonError) {
            try verify(signature, for: digest)
            return true
        } catch {
            return false
        }
    }
}
