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

    /// The device as it is to be, active or pending. Its id is a new one; a key that is known keeps its own.
    package var device: Device
    /// SHA-256 of the challenge's text.
    package var challenge: Digest
    package var certificate: Certificate?
    /// How many active and pending devices of this app one EK may have; nil is no limit.
    package var maxDevicesPerEK: Int?
    /// How many devices of this app may be pending.
    package var maxPending: Int

    package init(
        device: Device, challenge: Digest, certificate: Certificate? = nil, maxDevicesPerEK: Int? = nil,
        maxPending: Int = .max
    ) {
        self.device = device
        self.challenge = challenge
        self.certificate = certificate
        self.maxDevicesPerEK = maxDevicesPerEK
        self.maxPending = maxPending
    }

    package enum Outcome: Equatable, Sendable {
        /// There is a new device, or one that was pending need not be any more.
        case registered(Device)
        /// The key was this active or pending device's already, with the same TPM: this is the device.
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
        /// The key is a device's that an operator decided against.
        case rejected
        /// A device had this key before its present one.
        case keyRetired
        /// The key is in use by a device of another app, or by one with another level, EK or AK.
        case keyInUse
        /// The EK has as many devices as it may.
        case tooManyDevices
        /// As many devices of the app as may wait for an operator do.
        case tooManyPending
        /// The certificate that was shown is not known, not live, or of another app, EK or AK.
        case certificate
    }
}

/// An operator's word about a device that is pending.
package enum Approval: String, Sendable {
    case approve
    case reject

    package enum Outcome: Equatable, Sendable {
        /// The device, as it is now.
        case decided(Device)
        /// It was decided so before.
        case already(Device)
        /// It does not wait for a decision.
        case notPending(Device)
        case unknownDevice
        /// Its TPM is on the deny list by now.
        case ekDenied(Device)
    }
}
