// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// The three names that revocation acts on (security.md 1.2).
package enum Revocation: Equatable, Sendable {
    /// Signatures of the device are refused at once, and its AK certificates are not live. With `compromised` its EK is
    /// denied too, as the machine could else reset and come back.
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
        package var certificates: Int
        /// Whether the name was known. An EK is denied before it is.
        package var found: Bool

        package init(device: Device? = nil, certificates: Int = 0, found: Bool) {
            self.device = device
            self.certificates = certificates
            self.found = found
        }
    }
}

/// A key's use after it was retired.
package enum RetiredKeyUse: Equatable, Sendable {
    /// No device had this key.
    case unknownKey
    /// Within 600 s of the rotation: what was under way.
    case underWay
    /// Later: somebody has a copy of the key, or of a virtual TPM (security.md D5). The number of such uses so far.
    case alarm(deviceID: String, uses: Int64)
}
