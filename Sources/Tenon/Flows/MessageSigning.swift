// SPDX-License-Identifier: Apache-2.0

/// A signature of an identity, and the key that made it.
package struct IdentitySignature: Sendable {
    package let signature: Signature
    package let publicKey: PublicKey
    /// The service's id of the device.
    package let deviceID: String
}

extension DeviceIdentity {
    /// Signs a message with the key that signs requests now.
    ///
    /// - Throws: what else stands against signing a request, and what refuses the message.
    package func sign(_ message: SignableMessage) async throws(TenonError) -> IdentitySignature {
        let signer = try await signer()
        do throws(TenonError) {
            return IdentitySignature(
                signature: try await signer.key.signature(for: message), publicKey: signer.key.publicKey,
                deviceID: signer.deviceID)
        } catch  where error.category == .gone {
            throw await markInvalidWaiting(signer.generation)
        }
    }

    /// The same on the caller's thread, which it blocks.
    package func sign(_ message: SignableMessage) throws(TenonError) -> IdentitySignature {
        let signer = try signer()
        do throws(TenonError) {
            return IdentitySignature(
                signature: try signer.key.blockingSignature(for: message), publicKey: signer.key.publicKey,
                deviceID: signer.deviceID)
        } catch  where error.category == .gone {
            throw markInvalidBlocking(signer.generation)
        }
    }

    /// The public half of the key that signs now.
    package func publicKey() async throws(TenonError) -> PublicKey {
        let signer = try await signer()
        return signer.key.publicKey
    }
}
