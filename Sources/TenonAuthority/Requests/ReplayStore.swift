// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A request whose signature was verified.
package struct SignedUse: Sendable {
    package var deviceID: String
    /// The nonce of the device: a UUID. Its case does not matter.
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

    /// How far ahead a store records that it may accept requests, in seconds: one write covers that span, and after a
    /// loss requests of that span are refused.
    static let lead: Int64 = 2
}

/// Which requests were accepted (decision: one-use, forgetful-stores).
package protocol ReplayStore: Sendable {
    /// Remembers `(device, nonce)` and `(thumbprint, r)` in one step, for 660 s, or says that either is known. s is
    /// ignored, because n - s is also valid, and anybody can compute it.
    ///
    /// Call it after the signature was verified, otherwise anybody could spend a victim's nonce, and after the
    /// timestamp was found to be within 300 s of now.
    ///
    /// - Throws: ``TenonError/Code/nonce`` for what is no UUID; ``TenonError/Code/storeFull``, or what says that the
    ///   store cannot be asked: the request is refused (503), there is no way to go on without.
    func remember(_ use: SignedUse) async throws(TenonError) -> SignedUse.Outcome
}

/// Of which timestamps requests may have been accepted: what a ``ReplayStore`` needs of a life before this one.
package protocol ReplayHorizon: Sendable {
    /// Stores that requests with these timestamps may be accepted: of this device, or with nil of all.
    ///
    /// - Parameter epoch: the life in which they are, where several have the same horizons; "" where none has a name.
    func raise(device: String?, to span: ReplaySpan, epoch: String) async throws(TenonError)

    /// What was stored. Nil when nothing was ever accepted: there was no earlier life.
    ///
    /// - Parameter epoch: whose own horizons are none of an earlier life.
    func horizons(besides epoch: String?) async throws(TenonError) -> ReplayHorizons?
}

/// Timestamps, in Unix seconds. That they have a beginning is for clocks that were ahead and came back: what is signed
/// now is not what was accepted then.
package struct ReplaySpan: Equatable, Sendable {
    package var from: Int64
    package var to: Int64

    package init(from: Int64 = 0, to: Int64) {
        self.from = from
        self.to = to
    }

    func contains(_ timestamp: Int64) -> Bool { from <= timestamp && timestamp <= to }
}

package struct ReplayHorizons: Equatable, Sendable {
    /// Of all devices.
    package var all: [ReplaySpan]
    /// Of devices whose clocks are ahead.
    package var devices: [String: [ReplaySpan]]

    package init(all: [ReplaySpan] = [], devices: [String: [ReplaySpan]] = [:]) {
        self.all = all
        self.devices = devices
    }

    /// The same spans, those that touch as one: epochs may be many, and each request is looked up.
    func merged() -> ReplayHorizons {
        ReplayHorizons(all: ReplayHorizons.merged(all), devices: devices.mapValues(ReplayHorizons.merged))
    }

    private static func merged(_ spans: [ReplaySpan]) -> [ReplaySpan] {
        var merged: [ReplaySpan] = []
        for span in spans.sorted(by: { $0.from < $1.from }) {
            if let last = merged.last, span.from <= last.to {
                merged[merged.count - 1].to = max(last.to, span.to)
            } else {
                merged.append(span)
            }
        }
        return merged
    }

    /// Whether a request may be one that was accepted.
    func mayHold(_ use: SignedUse) -> Bool {
        all.contains { $0.contains(use.timestamp) }
            || devices[use.deviceID]?.contains { $0.contains(use.timestamp) } == true
    }
}

/// A UUID's 16 bytes: its text may be in either case.
struct UUIDBytes: Hashable {
    private let high: UInt64
    private let low: UInt64

    init?(_ text: String) {
        var (words, count) = ((UInt64(0), UInt64(0)), 0)
        for byte in text.utf8 where byte != UInt8(ascii: "-") {
            guard let digit = UUIDBytes.digit(byte), count < 32 else { return nil }
            if count < 16 { words.0 = words.0 << 4 | digit } else { words.1 = words.1 << 4 | digit }
            count += 1
        }
        guard text.utf8.count == 36, count == 32 else { return nil }
        (high, low) = words
    }

    private static func digit(_ byte: UInt8) -> UInt64? {
        switch byte {
        case 0x30...0x39: UInt64(byte - 0x30)
        case 0x41...0x46, 0x61...0x66: UInt64(byte | 0x20) - 0x57
        default: nil
        }
    }

    var bytes: [UInt8] {
        [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
    }
}
