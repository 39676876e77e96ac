// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A rotation whose signature and proof are good.
package struct KeyRotation: Sendable {
    package var app: String
    package var deviceID: String
    /// The key that signed the request.
    package var signer: PublicKey
    package var newKey: PublicKey
    /// RFC 7638, of the new key.
    package var newThumbprint: String
    package var vouching: Vouching

    /// What says that the new key is in the TPM of the device. The store judges by the level that the device has then,
    /// which may be another one than when the request was checked.
    package enum Vouching: Equatable, Sendable {
        /// A proof by the device's AK.
        case proof
        /// Nothing: for a device that is not attested.
        case nothing
        /// Nothing, where the app's record says `mark_unattested`: an attested device is so no more.
        case nothingAndMarked
    }

    package init(
        app: String, deviceID: String, signer: PublicKey, newKey: PublicKey, newThumbprint: String, vouching: Vouching
    ) {
        self.app = app
        self.deviceID = deviceID
        self.signer = signer
        self.newKey = newKey
        self.newThumbprint = newThumbprint
        self.vouching = vouching
    }

    package enum Outcome: Equatable, Sendable {
        /// The new key is the device's.
        case rotated(Device)
        /// It was so before, and the present or the previous key asked: the answer is the same
        /// (decision: own-endpoints).
        case current(Device)
        case refused(Refusal)
    }

    package enum Refusal: Equatable, Sendable {
        case unknownDevice
        case revoked
        /// The key that signed is not the device's present one: another rotation came first.
        case superseded
        /// The new key is, or was, another's or this device's own.
        case keyInUse
    }
}
