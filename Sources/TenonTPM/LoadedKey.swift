// SPDX-License-Identifier: Apache-2.0
internal import CTenon
internal import CTenonTPM
internal import Tenon

/// A signing key that is loaded, and the `tenon_key` over it.
final class LoadedKey: Sendable {
    /// The key in its TPM.
    let object: LoadedObject
    /// The key behind the seam of the core.
    let key: CoreKey

    init(
        _ options: TPM.PrivateKey.Options, of file: [UInt8]?, _ make: (inout OpaquePointer?) -> tenon_status
    ) throws(TenonError) {
        object = try LoadedObject(of: file, make)
        var opened: OpaquePointer?
        try TenonError.check(tenon_tpm_key_open(object.pointer, &opened, options.core))
        guard let opened else { throw TenonError(status: tenon_status(TENON_ERROR_NULL)) }
        key = try CoreKey(adopting: opened)
    }
}

extension TPM.PrivateKey.Options {
    fileprivate var core: UInt32 {
        (contains(.signsDigests) ? UInt32(TENON_KEY_SIGNS_DIGESTS) : 0)
            | (contains(.lowS) ? UInt32(TENON_TPM_KEY_LOW_S) : 0)
            | (contains(.verified) ? UInt32(TENON_TPM_KEY_VERIFIED) : 0)
    }
}
