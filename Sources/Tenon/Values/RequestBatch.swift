// SPDX-License-Identifier: Apache-2.0
internal import CTenon
internal import Synchronization

/// Requests that one signature of a key is to stand for. Who its members are is settled when the key's turn comes, so
/// that requests can join while the key is still busy.
public struct RequestBatch: Sendable {
    /// The largest batch.
    public static let mostMembers = Int(TENON_BATCH_MAX)

    private let take: @Sendable () throws(TenonError) -> [SignatureBase]

    /// - Parameter take: called once, on the thread that signs, directly before it does. It gives the members in their
    ///   order, and none if there is nothing to sign.
    package init(_ take: @escaping @Sendable () throws(TenonError) -> [SignatureBase]) { self.take = take }

    /// The members. A key asks once, directly before it signs.
    package func members() throws(TenonError) -> [SignatureBase] { try take() }

    /// Has a key of the core sign the members; without members it signs nothing.
    func signature(by key: OpaquePointer, _ publicKey: PublicKey) throws(TenonError) -> BatchSignature {
        let members = try members()
        guard !members.isEmpty else { return BatchSignature() }
        guard members.allSatisfy({ $0.form == .batch }) else {
            throw TenonError(status: tenon_status(TENON_ERROR_FLAGS))
        }
        return try BatchSignature(members, by: key, publicKey)
    }
}

/// The signature of a batch: each member has its own value of `Signature`.
public final class BatchSignature: Sendable {
    // One thread at a time uses it.
    private let batch: Mutex<Handle?>

    private struct Handle: ~Copyable, @unchecked Sendable {
        var pointer: OpaquePointer?

        deinit {
            var pointer = pointer
            tenon_batch_free(&pointer)
        }
    }

    fileprivate init() { batch = Mutex(nil) }

    fileprivate init(
        _ members: [SignatureBase], by key: OpaquePointer, _ publicKey: PublicKey
    ) throws(TenonError) {
        var pointer: OpaquePointer?
        try TenonError.check(withUnsafePointer(to: publicKey.core) { tenon_batch_new(&pointer, $0, members.count) })
        let handle = Handle(pointer: pointer)
        for member in members {
            var index = 0
            try TenonError.check(
                withUnsafePointer(to: member.digest.core) { tenon_batch_add(handle.pointer, &index, $0) })
        }
        try TenonError.check(tenon_key_sign_batch(key, handle.pointer))
        batch = Mutex(handle)
    }

    /// The value of `Signature` of the member with this index.
    package func value(at index: Int) throws(TenonError) -> String {
        var status = tenon_status(TENON_ERROR_BATCH_STATE)
        let value = String(unsafeUninitializedCapacity: Int(TENON_SIGNATURE_VALUE_MAX)) { buffer in
            var written = 0
            status = buffer.withMemoryRebound(to: CChar.self) { buffer in
                batch.withLock {
                    tenon_batch_signature($0?.pointer, buffer.baseAddress, buffer.count, &written, index)
                }
            }
            return status == 0 ? written : 0
        }
        try TenonError.check(status)
        return value
    }
}
