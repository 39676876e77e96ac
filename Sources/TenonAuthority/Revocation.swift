// SPDX-License-Identifier: Apache-2.0
package import Tenon

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

    /// Whether a machine may register anew.
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
