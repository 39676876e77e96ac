// SPDX-License-Identifier: Apache-2.0
internal import CTenon

extension CoreKey {
    /// A key of the core that asks a signer.
    convenience init(asking signer: any DigestSigner) throws(TenonError) {
        let box = Unmanaged.passRetained(SignerBox(signer))
        var operations = tenon_key_ops()
        operations.size = MemoryLayout<tenon_key_ops>.size
        operations.flags = UInt32(TENON_KEY_SIGNS_DIGESTS)
        operations.sign = signDigest
        operations.public_key = readPublicKey
        operations.free = { context in context.map { Unmanaged<SignerBox>.fromOpaque($0).release() } }
        var handle: OpaquePointer?
        let status = tenon_key_new(&handle, &operations, box.toOpaque())
        guard status == 0, let handle else {
            box.release()
            throw TenonError(status: status != 0 ? status : tenon_status(TENON_ERROR_NULL))
        }
        try self.init(adopting: handle)
    }
}

/// What the core is given for a signer: it keeps the box until it calls `free`.
private final class SignerBox: Sendable {
    let signer: any DigestSigner

    init(_ signer: any DigestSigner) { self.signer = signer }

    static func at(_ context: UnsafeMutableRawPointer?) -> SignerBox? {
        context.map { Unmanaged<SignerBox>.fromOpaque($0).takeUnretainedValue() }
    }
}

private func signDigest(
    _ context: UnsafeMutableRawPointer?, _ out: UnsafeMutablePointer<tenon_signature>?,
    _ digest: UnsafePointer<tenon_digest>?
) -> tenon_status {
    guard let box = SignerBox.at(context), let out, let digest else { return tenon_status(TENON_ERROR_NULL) }
    do throws(TenonError) {
        out.pointee = try box.signer.signature(for: Digest(core: digest.pointee)).core
        return 0
    } catch {
        // An error is never taken for success, whatever its code.
        return error.code.rawValue != 0 ? error.code.rawValue : tenon_status(TENON_ERROR_CRYPTO)
    }
}

private func readPublicKey(
    _ context: UnsafeMutableRawPointer?, _ out: UnsafeMutablePointer<tenon_public_key>?
) -> tenon_status {
    guard let box = SignerBox.at(context), let out else { return tenon_status(TENON_ERROR_NULL) }
    out.pointee = box.signer.publicKey.core
    return 0
}
