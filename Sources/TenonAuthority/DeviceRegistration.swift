// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A registration whose every check has passed but those that only the store can make.
package struct DeviceRegistration: Sendable {
    /// The certificate of the AK behind the registration.
    package enum Certificate: Sendable {
        /// The authority issues it now; it has to be of this app, EK and AK.
        case issued(AKCertificate)
        /// The device showed it: its serial has to be live, and of this app, EK and AK.
        case shown(serial: [UInt8])
    }

    /// The device as it is to be. Its id is a new one; a key that is known keeps its own.
    package var device: Device
    /// SHA-256 of the challenge's text.
    package var challenge: Digest
    package var certificate: Certificate?
    /// How many active devices of this app one EK may have; nil is no limit.
    package var maxDevicesPerEK: Int?

    package init(
        device: Device, challenge: Digest, certificate: Certificate? = nil, maxDevicesPerEK: Int? = nil
    ) {
        self.device = device
        self.challenge = challenge
        self.certificate = certificate
        self.maxDevicesPerEK = maxDevicesPerEK
    }

    package enum Outcome: Equatable, Sendable {
        /// There is a new device.
        case registered(Device)
        /// The key was this active device's already, with the same TPM: this is the device.
        case known(Device)
        case refused(Refusal)
    }

    package enum Refusal: Equatable, Sendable {
        /// The EK is on the deny list.
        case ekDenied
        /// A registration under this challenge succeeded before.
        case challengeSpent
        /// The key is a revoked device's: DEVICE_REVOKED.
        case revoked(deviceID: String)
        /// A device had this key before its present one.
        case keyRetired
        /// The key is in use by a device of another app, or by one with another level, EK or AK.
        case keyInUse
        /// The EK has as many devices as it may.
        case tooManyDevices
        /// The certificate that was shown is not known, not live, or of another app, EK or AK.
        case certificate
    }
}
