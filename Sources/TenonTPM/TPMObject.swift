// SPDX-License-Identifier: Apache-2.0
internal import CTenon
internal import CTenonTPM
internal import Synchronization
internal import Tenon

/// Owns a handle of the core, and frees it exactly once: a `tenon_tpm` or a `tenon_tpm_key`. Freeing it may send
/// commands, so a ``Lease`` does that on the TPM's thread.
///
/// Any number of threads may use a handle of the core at once. A caller of the core holds this value meanwhile.
final class CoreHandle: Sendable {
    typealias Free = @convention(c) (UnsafeMutablePointer<OpaquePointer?>?) -> Void

    nonisolated(unsafe) let pointer: OpaquePointer
    private let free: Free

    /// Makes a handle by a function of the core, which gives NULL and a status when it fails.
    init(freedBy free: Free, _ make: (inout OpaquePointer?) -> tenon_status) throws(TenonError) {
        var made: OpaquePointer?
        try TenonError.check(make(&made))
        guard let made else { throw TenonError(status: tenon_status(TENON_ERROR_NULL)) }
        pointer = made
        self.free = free
    }

    deinit {
        var pointer: OpaquePointer? = pointer
        free(&pointer)
    }
}

/// A loaded key of a TPM, a signing key or an attestation key: its handle, its Names and its file.
final class TPMObject: Sendable {
    /// A function of the core that makes a key.
    typealias Make = (_ tpm: OpaquePointer, _ key: inout OpaquePointer?) -> tenon_status

    let tpm: TPM
    let isForeign: Bool
    let name: [UInt8]
    let parentName: [UInt8]?
    let witness: [UInt8]?

    private let handle: Lease<CoreHandle>
    /// The file, and the persistent handle that it names.
    private let exported: Mutex<(pem: [UInt8], copy: UInt32)>

    /// - Parameter file: the file that is loaded; nil asks the core for it.
    init(in tpm: TPM, of file: [UInt8]? = nil, _ make: Make) throws(TenonError) {
        let handle = try CoreHandle(freedBy: tenon_tpm_key_free) { make(tpm.pointer, &$0) }
        let pointer = handle.pointer
        isForeign = tenon_tpm_key_is_foreign(pointer) == 1
        name = try Self.name(pointer, tenon_tpm_key_name) ?? []
        parentName = try Self.name(pointer, tenon_tpm_key_parent_name)
        witness = try Self.name(pointer, tenon_tpm_key_witness)
        let pem: [UInt8] = if let file { file } else { try Self.export(pointer) }
        exported = Mutex((pem, tenon_tpm_key_handle(pointer)))
        self.tpm = tpm
        self.handle = Lease(handle, on: tpm.thread)
    }

    /// The handle, for calls of the core while this value is held.
    var pointer: OpaquePointer { handle.value.pointer }

    /// The PEM file. It is another one when the key has another copy, or none any more.
    var pem: [UInt8] {
        exported.withLock { exported in
            let copy = tenon_tpm_key_handle(pointer)
            if copy != exported.copy, let pem = try? Self.export(pointer) { exported = (pem, copy) }
            return exported.pem
        }
    }

    /// The TPM's public area of the key.
    var publicArea: PublicArea {
        get throws(TenonError) {
            let area = try bytes(capacity: TENON_AREA_MAX) {
                tenon_tpm_key_public_area(pointer, $0.baseAddress, $0.count, &$1)
            }
            return try PublicArea(dataRepresentation: area)
        }
    }

    /// The key for signing, which may outlive this value.
    func signer(_ options: TPM.PrivateKey.Options) throws(TenonError) -> CoreKey {
        var opened: OpaquePointer?
        try TenonError.check(tenon_tpm_key_open(pointer, &opened, options.core))
        guard let opened else { throw TenonError(status: tenon_status(TENON_ERROR_NULL)) }
        return try CoreKey(adopting: opened)
    }

    func persist() throws(TenonError) -> UInt32 {
        var handle: UInt32 = 0
        try TenonError.check(tenon_tpm_key_persist(pointer, &handle))
        return handle
    }

    func evict() throws(TenonError) { try TenonError.check(tenon_tpm_key_evict(pointer)) }

    func check() throws(TenonError) { try TenonError.check(tenon_tpm_key_check(pointer)) }

    private typealias NameReader = (
        OpaquePointer?, UnsafeMutablePointer<UInt8>?, Int, UnsafeMutablePointer<Int>?
    ) -> tenon_status

    private static func name(_ key: OpaquePointer, _ read: NameReader) throws(TenonError) -> [UInt8]? {
        let name = try bytes(capacity: TENON_NAME_SIZE) { read(key, $0.baseAddress, $0.count, &$1) }
        return name.isEmpty ? nil : name
    }

    private static func export(_ key: OpaquePointer) throws(TenonError) -> [UInt8] {
        try bytes(capacity: TENON_TPM_KEY_MAX) { buffer, written in
            buffer.withMemoryRebound(to: CChar.self) {
                tenon_tpm_key_export(key, $0.baseAddress, $0.count, &written)
            }
        }
    }
}

extension TPM.PrivateKey.Options {
    fileprivate var core: UInt32 {
        (contains(.signsDigests) ? UInt32(TENON_KEY_SIGNS_DIGESTS) : 0)
            | (contains(.lowS) ? UInt32(TENON_TPM_KEY_LOW_S) : 0)
            | (contains(.verified) ? UInt32(TENON_TPM_KEY_VERIFIED) : 0)
    }
}
