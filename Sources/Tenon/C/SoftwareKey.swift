// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// A key in the memory of the process, for load tools, tests and development. It is no device identity: whoever reads
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
}

extension SoftwareKey: DigestSigner {
    package func signature(for digest: Digest) throws(TenonError) -> Signature { try key.signature(for: digest) }
}
