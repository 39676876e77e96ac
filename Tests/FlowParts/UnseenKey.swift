// SPDX-License-Identifier: Apache-2.0
import Tenon

/// A key that is loaded each time that it signs, as in a TPM without a resource manager.
struct UnseenKey: DeviceKey {
    let publicKey: PublicKey
    let load: @Sendable () throws(TenonError) -> any DeviceKey

    var isHardware: Bool { true }

    func signature(for message: SignableMessage) async throws(TenonError) -> Signature {
        try await load().signature(for: message)
    }

    func blockingSignature(for message: SignableMessage) throws(TenonError) -> Signature {
        try load().blockingSignature(for: message)
    }

    func signature(for base: SignatureBase) async throws(TenonError) -> Signature {
        try await load().signature(for: base)
    }

    func blockingSignature(for base: SignatureBase) throws(TenonError) -> Signature {
        try load().blockingSignature(for: base)
    }

    func signature(for batch: RequestBatch) async throws(TenonError) -> BatchSignature {
        try await load().signature(for: batch)
    }
}
