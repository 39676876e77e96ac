// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A request whose signature is good.
package struct SignedUse: Sendable {
    package var deviceID: String
    /// The device's `X-Synheart-Nonce`: a UUID. Its case does not matter.
    package var nonce: String
    /// Of the key that signed.
    package var thumbprint: String
    package var signature: Signature
    /// Unix seconds, as signed.
    package var timestamp: Int64

    package init(deviceID: String, nonce: String, thumbprint: String, signature: Signature, timestamp: Int64) {
        self.deviceID = deviceID
        self.nonce = nonce
        self.thumbprint = thumbprint
        self.signature = signature
        self.timestamp = timestamp
    }

    package enum Outcome: Equatable, Sendable {
        /// It is the first, and remembered.
        case fresh
        /// NONCE_REPLAY.
        case replay
        /// The device has made 10,000 requests that are still remembered: 429.
        case tooMany
        /// The request may be one that was accepted before the store lost its memory: CLOCK_SKEW.
        case mayBeForgotten
    }
}

/// Which requests were accepted (security.md E1, E4).
package protocol ReplayStore: Sendable {
    /// Remembers `(device, nonce)` and `(thumbprint, r)` in one step, for 660 s, or says that either is known. s is not
    /// looked at: n - s is as good, and anybody can compute it.
    ///
    /// It is asked after the signature was verified, else anybody could spend a victim's nonce, and after the timestamp
    /// was found within 300 s of now.
    ///
    /// - Throws: ``TenonError/Code/nonce`` for what is no UUID; ``TenonError/Code/storeFull``, or what says that the
    ///   store cannot be asked: the request is refused (503), there is no way to go on without.
    func remember(_ use: SignedUse) async throws(TenonError) -> SignedUse.Outcome
}

/// Up to which timestamps requests may have been accepted: what a ``ReplayStore`` needs of a life before this one.
package protocol ReplayHorizon: Sendable {
    /// Stores that requests with timestamps up to this one may be accepted: of this device, or with nil of all.
    ///
    /// - Parameter epoch: the life in which they are, where several have the same horizons; "" where none has a name.
    func raise(device: String?, to timestamp: Int64, epoch: String) async throws(TenonError)

    /// What was stored, but for devices whose horizon is not after a moment in Unix seconds: that is forgotten. Nil when
    /// nothing was ever accepted: there was no earlier life.
    ///
    /// - Parameter epoch: whose own horizons are none of an earlier life.
    func horizons(after seconds: Int64, besides epoch: String?) async throws(TenonError) -> ReplayHorizons?
}

package struct ReplayHorizons: Equatable, Sendable {
    /// Of all devices; nil when nothing is stored.
    package var all: Int64?
    /// Of devices whose clocks are ahead.
    package var devices: [String: Int64]
    /// Horizons that are further ahead than any is believed: a clock was wrong. Of all devices, or of one.
    package var ahead: [Ahead]

    package struct Ahead: Equatable, Sendable {
        package var device: String?
        package var timestamp: Int64
    }

    /// Seconds: a horizon that is further ahead of the clock says that a clock is wrong, or was.
    package static let bound: Int64 = 86_400

    package init(all: Int64? = nil, devices: [String: Int64] = [:], ahead: [Ahead] = []) {
        self.all = all
        self.devices = devices
        self.ahead = ahead
    }

    /// Whether a request may have been accepted in the day before a horizon that is not believed: when that time comes,
    /// it is in time once more.
    package func isAhead(_ use: SignedUse) -> Bool {
        ahead.contains { ahead in
            (ahead.device ?? use.deviceID) == use.deviceID && use.timestamp <= ahead.timestamp
                && use.timestamp > ahead.timestamp - ReplayHorizons.bound
        }
    }
}
