// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A registration that has passed all checks except the store's own.
package struct DeviceRegistration: Sendable {
    /// The certificate of the AK behind the registration.
    package enum Certificate: Sendable {
        /// The authority issues it now, for this app, EK and AK.
        case issued(AKCertificate)
        /// The device showed it: its serial number must be live, and for this app, EK and AK.
        case shown(serial: [UInt8])
    }

    /// The device to store, active or pending, with a new id. A device whose key is known keeps its id.
    package var device: Device
    /// Whether the id came from the device: it belongs to one key for ever, and the key to it.
    package var hasGivenID = false
    /// SHA-256 of the challenge's text; nil for a service whose registrations prove themselves without one.
    package var challenge: Digest?
    package var certificate: Certificate?
    /// The most active and pending devices of this app that one EK may have; nil means no limit.
    package var maxDevicesPerEK: Int?
    /// The most devices of this app that may be pending.
    package var maxPending: Int
    /// Stores the service's own data of a device that is registered, or was already.
    package var alongside: Step?

    /// A part of a registration's transaction. It may run again when another transaction came between.
    package typealias Step = @Sendable (Device, any SQLConnection) throws(TenonError) -> Void

    package init(
        device: Device, challenge: Digest?, certificate: Certificate? = nil, maxDevicesPerEK: Int? = nil,
        maxPending: Int = .max
    ) {
        self.device = device
        self.challenge = challenge
        self.certificate = certificate
        self.maxDevicesPerEK = maxDevicesPerEK
        self.maxPending = maxPending
    }

    package enum Outcome: Equatable, Sendable {
        /// A new device was stored, or a pending one became active.
        case registered(Device)
        /// The key already belonged to this active or pending device, with the same TPM.
        case known(Device)
        case refused(Refusal)
    }

    package enum Refusal: Equatable, Sendable {
        /// The EK is on the deny list.
        case ekDenied
        /// A registration under this challenge succeeded before.
        case challengeSpent
        /// The key belongs to a revoked device: DEVICE_REVOKED.
        case revoked(deviceID: String)
        /// The key belongs to a device that an operator rejected.
        case rejected
        /// The key is an earlier key of a device.
        case keyRetired
        /// A device of another app, or one with another level, EK or AK, uses the key.
        case keyInUse
        /// The given id belongs to a device with another key, or the key to a device with another id.
        case idInUse
        /// The EK already has the most devices that it may have.
        case tooManyDevices
        /// The most devices of the app that may wait for an operator already do.
        case tooManyPending
        /// The shown certificate is unknown, not live, or for another app, EK or AK.
        case certificate
    }
}

/// An operator's decision about a pending device.
package enum Approval: String, Sendable {
    case approve
    case reject

    package enum Outcome: Equatable, Sendable {
        /// The device after the decision.
        case decided(Device)
        /// The same decision was made before.
        case already(Device)
        /// The device does not wait for a decision.
        case notPending(Device)
        case unknownDevice
        /// Its TPM has been put on the deny list meanwhile.
        case ekDenied(Device)
    }
}

/// A rotation whose signature and proof were verified.
package struct KeyRotation: Sendable {
    package var app: String
    package var deviceID: String
    /// The key that signed the request.
    package var signer: PublicKey
    package var newKey: PublicKey
    /// The RFC 7638 thumbprint of the new key.
    package var newThumbprint: String
    package var vouching: Vouching
    /// The versions of request signing of the device from now on; nil keeps them.
    package var signatureVersions: [Int]?

    /// The evidence that the new key is in the TPM of the device. The store judges it by the level that the device has
    /// in the transaction, which may have changed since the request was checked.
    package enum Vouching: Equatable, Sendable {
        /// A proof by the device's AK.
        case proof
        /// No evidence, for a device that is not attested.
        case nothing
        /// No evidence, where the app's record says `mark_unattested`: an attested device becomes unattested.
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
        /// The device has the new key now.
        case rotated(Device)
        /// The device had the new key already, and the present or the previous key asked: the answer is the same
        /// (decision: own-endpoints).
        case current(Device)
        case refused(Refusal)
    }

    package enum Refusal: Equatable, Sendable {
        case unknownDevice
        case revoked
        /// The key that signed is not the device's present key: another rotation came first.
        case superseded
        /// The new key is or was a key of another device or of this one.
        case keyInUse
    }
}

/// The three names that revocation acts on (decision: three-revocations).
package enum Revocation: Equatable, Sendable {
    /// Refuses signatures of the device at once, and ends its AK certificates. Its machine may register again.
    ///
    /// With `compromised`, revokes the whole machine as far as its TPM is known: denies its EK, and revokes every
    /// device of that EK in all apps.
    case device(app: String, id: String, compromised: Bool)
    /// Ends this AK certificate.
    case certificate(serial: [UInt8])
    /// Refuses new challenges, registrations and certificates to the TPM with this HMAC(K_ek, ek_id), and ends its
    /// certificates. Its devices stay.
    case ek(Digest)

    /// The result of a revocation, including names that were revoked before.
    package struct Outcome: Equatable, Sendable {
        /// The device, for ``Revocation/device(app:id:compromised:)``; nil if it is unknown.
        package var device: Device?
        /// All devices that it revokes, including that one, in the order in which they were registered.
        package var devices: [Device]
        package var certificates: Int
        /// The effect on the TPM; nil if a certificate was named.
        package var tpm: TPM?
        /// Whether the name was known. An EK may be denied before it is known.
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
        /// The machine may register again: its EK is not denied.
        case allowed
        /// The device registered without an attestation, so its machine cannot be recognised.
        case unknown
    }
}

/// The use of a key after it was retired.
package enum RetiredKeyUse: Equatable, Sendable {
    /// No device had this key.
    case unknownKey
    /// The use was within 600 s of the rotation, so the request was under way then.
    case underWay
    /// The use was later: somebody has a copy of the key or of a virtual TPM (decision: copied-key). Holds the number
    /// of such uses so far.
    case alarm(deviceID: String, uses: Int64)
}
