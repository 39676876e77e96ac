// SPDX-License-Identifier: Apache-2.0
internal import CTenon
internal import CTenonTPM
internal import Synchronization
internal import Tenon

/// Owns a `tenon_tpm_key`: a signing key or an attestation key. Freeing it may send commands.
final class LoadedObject: Sendable {
    let isForeign: Bool
    let name: [UInt8]
    let parentName: [UInt8]?
    let witness: [UInt8]?

    private let handle: CoreHandle
    private let exported: Mutex<[UInt8]>
    // What is exported is what the last change made.
    private let changes = Mutex(())

    /// - Parameter file: what is loaded; nil where the core says it. Asking it would give up the parent, and a process's
    ///   first signature would wait for that.
    init(
        of file: [UInt8]? = nil, _ make: (inout OpaquePointer?) -> tenon_status
    ) throws(TenonError) {
        handle = try CoreHandle(freedBy: tenon_tpm_key_free, make)
        let pointer = handle.pointer
        isForeign = tenon_tpm_key_is_foreign(pointer) == 1
        name = try Self.name(pointer, tenon_tpm_key_name) ?? []
        parentName = try Self.name(pointer, tenon_tpm_key_parent_name)
        witness = try Self.name(pointer, tenon_tpm_key_witness)
        exported = if let file { Mutex(file) } else { try Mutex(Self.export(pointer)) }
    }

    /// The PEM file, as it was after the last change.
    var pem: [UInt8] { exported.withLock { $0 } }

    /// What the TPM says of the key.
    var publicArea: PublicArea {
        get throws(TenonError) {
            let area = try bytes(capacity: TENON_AREA_MAX) {
                tenon_tpm_key_public_area(pointer, $0.baseAddress, $0.count, &$1)
            }
            return try PublicArea(dataRepresentation: area)
        }
    }

    /// For calls of the core while this value is held.
    var pointer: OpaquePointer { handle.pointer }

    func persist() throws(TenonError) -> UInt32 {
        var handle: UInt32 = 0
        try change { tenon_tpm_key_persist($0, &handle) }
        return handle
    }

    func evict() throws(TenonError) { try change { tenon_tpm_key_evict($0) } }

    func check() throws(TenonError) { try TenonError.check(tenon_tpm_key_check(pointer)) }

    private func change(_ body: (OpaquePointer) -> tenon_status) throws(TenonError) {
        try changes.withLock { _ throws(TenonError) in
            try TenonError.check(body(pointer))
            let pem = try Self.export(pointer)
            exported.withLock { $0 = pem }
        }
    }

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
