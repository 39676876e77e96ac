// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// Owns a `tenon_key`, wherever that keeps its private half. Its functions block the caller's thread for as long as the
/// key takes.
package final class CoreKey: Sendable {
    package let publicKey: PublicKey
    package let isHardware: Bool
    // tenon_key may be used by any number of threads; it is freed when nobody can be using it any more.
    nonisolated(unsafe) let handle: OpaquePointer

    /// Takes over a `tenon_key`; it is freed also when this throws.
    package init(adopting handle: OpaquePointer) throws(TenonError) {
        var key = tenon_public_key()
        let status = tenon_key_public_key(handle, &key)
        publicKey = PublicKey(core: key)
        isHardware = tenon_key_is_hardware(handle) == 1
        self.handle = handle
        try TenonError.check(status)
    }

    deinit {
        var handle: OpaquePointer? = handle
        tenon_key_free(&handle)
    }

    /// Signs a message of a device.
    package func signature(for message: SignableMessage) throws(TenonError) -> Signature {
        switch message {
        case .request(let request):
            var request = request.core
            return try sign { tenon_key_sign_request(handle, &$0, &request) }
        case .rotation(let newKey):
            return try withUnsafePointer(to: newKey.core) { newKey throws(TenonError) in
                try sign { tenon_key_sign_rotation(handle, &$0, newKey) }
            }
        case .clientData(let data): return try sign { tenon_key_sign_client_data(handle, &$0, data.span) }
        case .event(let event): return try sign { tenon_key_sign_event(handle, &$0, event.span) }
        case .presentation(let credential, let audience, let nonce):
            return try present(credential, to: audience, nonce: nonce)
        case .plainData(let data): return try sign { tenon_key_sign_plain_data(handle, &$0, data.span) }
        case .jws(let input):
            return try sign { signature in
                input.withCoreText { tenon_key_sign_jws(handle, &signature, $0, $1) }
            }
        case .clientDataHash(let data): return try signature(for: Digest(hashing: data).rawRepresentation)
        case .certificationRequest(let info):
            guard info.first == 0x30 else {
                throw TenonError(.derTag, message: "A certification request is a SEQUENCE in DER.")
            }
            return try signature(for: info)
        }
    }

    /// Signs a request of signature version 2 in the plain form.
    package func signature(for base: SignatureBase) throws(TenonError) -> Signature {
        try base.signature(by: handle)
    }

    /// Signs the requests of a batch, with one signature.
    package func signature(for batch: RequestBatch) throws(TenonError) -> BatchSignature {
        try batch.signature(by: handle, publicKey)
    }

    /// Signs data. It refuses what could be taken for a message of a device: ``TenonError/Code/dataIsMessage``.
    package func signature(for data: [UInt8]) throws(TenonError) -> Signature {
        try sign { tenon_key_sign_data(handle, &$0, data.span) }
    }

    /// Signs a digest. The key needs the capability that is given when it is made, else
    /// ``TenonError/Code/digestNotAllowed``.
    package func signature(for digest: Digest) throws(TenonError) -> Signature {
        try withUnsafePointer(to: digest.core) { digest throws(TenonError) in
            try sign { tenon_key_sign_digest(handle, &$0, digest) }
        }
    }

    private func present(_ credential: String, to audience: String, nonce: [UInt8]) throws(TenonError) -> Signature {
        try sign { signature in
            credential.withCoreText { credential, credentialCount in
                audience.withCoreText { audience, audienceCount in
                    nonce.withUnsafeBufferPointer { nonce in
                        tenon_key_sign_presentation(
                            handle, &signature, credential, credentialCount, audience, audienceCount, nonce.baseAddress,
                            nonce.count)
                    }
                }
            }
        }
    }

    private func sign(_ write: (inout tenon_signature) -> tenon_status) throws(TenonError) -> Signature {
        var signature = tenon_signature()
        try TenonError.check(write(&signature))
        return try Signature(core: signature)
    }
}

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

/// The core's handle on a signer. It keeps the box until it calls `free`.
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
