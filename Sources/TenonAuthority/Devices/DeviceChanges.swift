// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A registration that has passed every check except those that only the store can make.
package struct DeviceRegistration: Sendable {
    /// The certificate of the AK behind the registration.
    package enum Certificate: Sendable {
        /// The authority issues it now; it must be for this app, EK and AK.
        case issued(AKCertificate)
        /// The device showed it: its serial number must be live, and for this app, EK and AK.
        case shown(serial: [UInt8])
    }

    /// The device as it is to be, active or pending. Its id is a new one; a key that is known keeps its own.
    package var device: Device
    /// SHA-256 of the challenge's text.
    package var challenge: Digest
    package var certificate: Certificate?
    /// How many active and pending devices of this app one EK may have; nil means no limit.
    package var maxDevicesPerEK: Int?
    /// How many devices of this app may be pending.
    package var maxPending: Int
    /// What its service stores of a device that is registered, or is so already.
    package var alongside: Step?

    /// A part of a registration's transaction; it may be run again when another came between.
    package typealias Step = @Sendable (Device, any SQLConnection) throws(TenonError) -> Void

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
        /// This was already decided.
        case already(Device)
        /// It does not wait for a decision.
        case notPending(Device)
        case unknownDevice
        /// Its TPM is on the deny list by now.
        case ekDenied(Device)
    }
}

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

/// The three names that revocation acts on (decision: three-revocations).
package enum Revocation: Equatable, Sendable {
    /// Signatures of the device are refused at once, and its AK certificates are not live. Its machine may register
    /// anew.
    ///
    /// With `compromised` the whole machine goes, as far as its TPM is known: its EK is denied, and every device of
    /// that EK is revoked, in all apps.
    case device(app: String, id: String, compromised: Bool)
    /// This AK certificate is not live.
    case certificate(serial: [UInt8])
    /// No new challenge, registration or certificate for the TPM with this HMAC(K_ek, ek_id), and no certificate of it
    /// is live. Its devices stay.
    case ek(Digest)

    /// What was revoked; what was so before is counted too.
    package struct Outcome: Equatable, Sendable {
        /// The device, for ``Revocation/device(app:id:compromised:)``; nil when there is none.
        package var device: Device?
        /// All devices that are revoked by it, that one too, in the order in which they were registered.
        package var devices: [Device]
        package var certificates: Int
        /// What becomes of the TPM; nil where a certificate was named.
        package var tpm: TPM?
        /// Whether the name was known. An EK is denied before it is.
        package var found: Bool

        package init(
            device: Device? = nil, devices: [Device] = [], certificates: Int = 0, tpm: TPM? = nil, found: Bool
        ) {
            self.device = device
            self.devices = devices
            self.certificates = certificates
            self.tpm = tpm
            self.found = found
        }
    }

    /// Whether a machine may register again.
    package enum TPM: String, Sendable {
        /// Its EK is on the deny list.
        case denied
        /// It may: nothing was said against its EK.
        case allowed
        /// The device registered without an attestation, so that its machine is not known again.
        case unknown
    }
}

/// A key's use after it was retired.
package enum RetiredKeyUse: Equatable, Sendable {
    /// No device had this key.
    case unknownKey
    /// Within 600 s of the rotation: what was under way.
    case underWay
    /// Later: somebody has a copy of the key, or of a virtual TPM (decision: copied-key). The number of such uses so
    /// far.
    case alarm(deviceID: String, uses: Int64)
}
