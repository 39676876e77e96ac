// SPDX-License-Identifier: Apache-2.0
import Tenon

/// A key in memory whose signatures have the smaller s.
struct StrictKey: DeviceKey {
    let key: SoftwareKey

    var publicKey: PublicKey { key.publicKey }
    var isHardware: Bool { true }

    func signature(for message: SignableMessage) async throws(TenonError) -> Signature {
        try await key.signature(for: message).normalised()
    }

    func blockingSignature(for message: SignableMessage) throws(TenonError) -> Signature {
        try key.blockingSignature(for: message).normalised()
    }
}
