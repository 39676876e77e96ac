// SPDX-License-Identifier: Apache-2.0
internal import CTenon
internal import CTenonTPM
internal import Synchronization
internal import Tenon

/// Owns a `tenon_tpm_key` and the `tenon_key` over it. Freeing it may send commands.
final class LoadedKey: Sendable {
    /// The key behind the seam of the core.
    let key: CoreKey
    let isForeign: Bool
    let name: [UInt8]
    let parentName: [UInt8]?
    let witness: [UInt8]?

    private let handle: CoreHandle
    private let exported: Mutex<[UInt8]>
    // What is exported is what the last change made.
    private let changes = Mutex(())

    init(_ options: TPM.PrivateKey.Options, _ make: (inout OpaquePointer?) -> tenon_status) throws(TenonError) {
        handle = try CoreHandle(freedBy: tenon_tpm_key_free, make)
        let pointer = handle.pointer
        var opened: OpaquePointer?
        try TenonError.check(tenon_tpm_key_open(pointer, &opened, options.core))
        guard let opened else { throw TenonError(status: tenon_status(TENON_ERROR_NULL)) }
        key = try CoreKey(adopting: opened)
        isForeign = tenon_tpm_key_is_foreign(pointer) == 1
        name = try Self.name(pointer, tenon_tpm_key_name) ?? []
        parentName = try Self.name(pointer, tenon_tpm_key_parent_name)
        witness = try Self.name(pointer, tenon_tpm_key_witness)
        exported = try Mutex(Self.export(pointer))
    }

    /// The PEM file, as it was after the last change.
    var pem: [UInt8] { exported.withLock { $0 } }

    func persist() throws(TenonError) -> UInt32 {
        var handle: UInt32 = 0
        try change { tenon_tpm_key_persist($0, &handle) }
        return handle
    }

    func evict() throws(TenonError) { try change { tenon_tpm_key_evict($0) } }

    func check() throws(TenonError) { try TenonError.check(tenon_tpm_key_check(handle.pointer)) }

    private func change(_ body: (OpaquePointer) -> tenon_status) throws(TenonError) {
        try changes.withLock { _ throws(TenonError) in
            try TenonError.check(body(handle.pointer))
            let pem = try Self.export(handle.pointer)
            exported.withLock { $0 = pem }
        }
    }

    private typealias NameReader = (
        OpaquePointer?, UnsafeMutablePointer<UInt8>?, Int, UnsafeMutablePointer<Int>?
    ) -> tenon_status

    private static func name(_ key: OpaquePointer, _ read: NameReader) throws(TenonError) -> [UInt8]? {
        let name = try bytes(TENON_NAME_SIZE) { read(key, $0.baseAddress, $0.count, &$1) }
        return name.isEmpty ? nil : name
    }

    private static func export(_ key: OpaquePointer) throws(TenonError) -> [UInt8] {
        try bytes(TENON_TPM_KEY_MAX) { buffer, written in
            buffer.withMemoryRebound(to: CChar.self) {
                tenon_tpm_key_export(key, $0.baseAddress, $0.count, &written)
            }
        }
    }

    private static func bytes(
        _ capacity: Int, _ read: (UnsafeMutableBufferPointer<UInt8>, inout Int) -> tenon_status
    ) throws(TenonError) -> [UInt8] {
        var status: tenon_status = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, written in
            status = read(buffer, &written)
            if status != 0 { written = 0 }
        }
        try TenonError.check(status)
        return bytes
    }
}

extension TPM.PrivateKey.Options {
    fileprivate var core: UInt32 {
        (contains(.signsDigests) ? UInt32(TENON_KEY_SIGNS_DIGESTS) : 0)
            | (contains(.lowS) ? UInt32(TENON_TPM_KEY_LOW_S) : 0)
            | (contains(.verified) ? UInt32(TENON_TPM_KEY_VERIFIED) : 0)
    }
}
