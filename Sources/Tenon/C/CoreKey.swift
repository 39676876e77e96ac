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

    package func signature(for request: RequestMessage) throws(TenonError) -> Signature {
        var request = request.core
        var signature = tenon_signature()
        try TenonError.check(tenon_key_sign_request(handle, &signature, &request))
        return try Signature(core: signature)
    }

    package func signature(forRotationTo newKey: PublicKey) throws(TenonError) -> Signature {
        var signature = tenon_signature()
        let status = withUnsafePointer(to: newKey.core) { tenon_key_sign_rotation(handle, &signature, $0) }
        try TenonError.check(status)
        return try Signature(core: signature)
    }

    package func signature(forClientData clientData: [UInt8]) throws(TenonError) -> Signature {
        var signature = tenon_signature()
        try TenonError.check(tenon_key_sign_client_data(handle, &signature, clientData.span))
        return try Signature(core: signature)
    }

    package func signature(forEvent event: [UInt8]) throws(TenonError) -> Signature {
        var signature = tenon_signature()
        try TenonError.check(tenon_key_sign_event(handle, &signature, event.span))
        return try Signature(core: signature)
    }

    /// Refuses what could be taken for one of those messages: ``TenonError/Code/dataIsMessage``.
    package func signature(for data: [UInt8]) throws(TenonError) -> Signature {
        var signature = tenon_signature()
        try TenonError.check(tenon_key_sign_data(handle, &signature, data.span))
        return try Signature(core: signature)
    }

    /// Needs the capability that is given when the key is made, else ``TenonError/Code/digestNotAllowed``.
    package func signature(for digest: Digest) throws(TenonError) -> Signature {
        var signature = tenon_signature()
        let status = withUnsafePointer(to: digest.core) { tenon_key_sign_digest(handle, &signature, $0) }
        try TenonError.check(status)
        return try Signature(core: signature)
    }
}
