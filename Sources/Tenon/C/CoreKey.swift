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
        }
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

    private func sign(_ write: (inout tenon_signature) -> tenon_status) throws(TenonError) -> Signature {
        var signature = tenon_signature()
        try TenonError.check(write(&signature))
        return try Signature(core: signature)
    }
}
