// SPDX-License-Identifier: Apache-2.0
public import Tenon

// Requests of signature version 2.
extension TPM.PrivateKey {
    /// Signs a request of signature version 2 in the plain form.
    public func signature(for base: SignatureBase) async throws(TenonError) -> Signature {
        try await tpm.run { () throws(TenonError) in try signer.value.signature(for: base) }
    }

    /// Signs a request of signature version 2 on the caller's thread, which it blocks.
    public func blockingSignature(for base: SignatureBase) throws(TenonError) -> Signature {
        try tpm.using { () throws(TenonError) in try signer.value.signature(for: base) }
    }

    /// Signs the requests of a batch: one command, and one place in the TPM's queue.
    public func signature(for batch: RequestBatch) async throws(TenonError) -> BatchSignature {
        try await tpm.run { () throws(TenonError) in try signer.value.signature(for: batch) }
    }

    /// Signs the requests of a batch on the caller's thread, which it blocks.
    public func blockingSignature(for batch: RequestBatch) throws(TenonError) -> BatchSignature {
        try tpm.using { () throws(TenonError) in try signer.value.signature(for: batch) }
    }

    /// Signs a request of signature version 2 with a key that is guarded by a value.
    public func signature(
        for base: SignatureBase, guardedBy auth: [UInt8]
    ) async throws(TenonError) -> Signature {
        try await tpm.run { () throws(TenonError) in
            try authorized(auth) { () throws(TenonError) in try signer.value.signature(for: base) }
        }
    }

    /// Signs the requests of a batch with a key that is guarded by a value: one use of the key.
    public func signature(
        for batch: RequestBatch, guardedBy auth: [UInt8]
    ) async throws(TenonError) -> BatchSignature {
        try await tpm.run { () throws(TenonError) in
            try authorized(auth) { () throws(TenonError) in try signer.value.signature(for: batch) }
        }
    }
}
