// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A request whose signature was verified.
package struct SignedUse: Sendable {
    /// What identifies the request.
    package enum Mark: Sendable {
        /// Version 1: the nonce of the device, which is a UUID of either case and is not signed; the thumbprint of the
        /// key; and its signature.
        case signature(nonce: String, thumbprint: String, Signature)
        /// Version 2, plain: the signed nonce, a UUID in lower case.
        case nonce(String)
        /// Version 2, in a batch: one of the requests below a root that the key signed.
        case member(thumbprint: Digest, root: Digest, size: Int, index: Int)
    }

    package var deviceID: String
    package var mark: Mark
    /// Unix seconds, as signed.
    package var timestamp: Int64

    package init(deviceID: String, mark: Mark, timestamp: Int64) {
        self.deviceID = deviceID
        self.mark = mark
        self.timestamp = timestamp
    }

    /// A request of version 1.
    package init(deviceID: String, nonce: String, thumbprint: String, signature: Signature, timestamp: Int64) {
        self.init(
            deviceID: deviceID, mark: .signature(nonce: nonce, thumbprint: thumbprint, signature), timestamp: timestamp)
    }

    package enum Outcome: Equatable, Sendable {
        /// The request is new, and is now remembered.
        case fresh
        /// NONCE_REPLAY.
        case replay
        /// The device has as many remembered entries as it may: 429.
        case tooMany
        /// The request may be one that was accepted before the store lost its memory: CLOCK_SKEW.
        case mayBeForgotten
    }

    /// How far ahead a store records that it may accept requests, in seconds: one write covers that span, and after a
    /// loss requests of that span are refused.
    static let lead: Int64 = 2
}

/// Remembers which requests were accepted (decision: one-use, forgetful-stores).
package protocol ReplayStore: Sendable {
    /// Remembers a request in one step, for 660 s, or reports that it is known.
    ///
    /// Of version 1 it remembers `(device, nonce)` and `(thumbprint, r)`. s is ignored, because n - s is also valid, and
    /// anybody can compute it. Of version 2 it remembers `(device, nonce)`, or one bit under `(thumbprint, root)`; the
    /// members of a batch share r.
    ///
    /// Call it after the signature was verified, otherwise anybody could spend a victim's nonce, and after the
    /// timestamp was found to be within 300 s of now.
    ///
    /// - Throws: ``TenonError/Code/nonce`` if the nonce is not a UUID; ``TenonError/Code/storeFull``, or an error of a
    ///   store that cannot be asked: then the request must be refused (503).
    func remember(_ use: SignedUse) async throws(TenonError) -> SignedUse.Outcome
}

/// The timestamps of requests that may have been accepted: a ``ReplayStore`` needs them from its life before this one.
package protocol ReplayHorizon: Sendable {
    /// Stores that requests with these timestamps may be accepted, of one device, or of all with nil.
    ///
    /// - Parameter epoch: the life in which they may be accepted, if several lives share the horizons; "" if lives have
    ///   no names.
    func raise(device: String?, to span: ReplaySpan, epoch: String) async throws(TenonError)

    /// The stored horizons. Nil if there was no earlier life, so that nothing was ever accepted.
    ///
    /// - Parameter epoch: the present life, whose own horizons are left out.
    func horizons(besides epoch: String?) async throws(TenonError) -> ReplayHorizons?
}

/// Timestamps, in Unix seconds. The beginning matters for clocks that were ahead and came back: a request that is
/// signed now cannot be one that was accepted in that wrong time.
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
    /// The spans of all devices.
    package var all: [ReplaySpan]
    /// The spans of devices whose clocks are ahead.
    package var devices: [String: [ReplaySpan]]

    package init(all: [ReplaySpan] = [], devices: [String: [ReplaySpan]] = [:]) {
        self.all = all
        self.devices = devices
    }

    /// The same spans, with overlapping ones merged: there may be many epochs, and each request is looked up.
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

    /// Whether a request may have been accepted before.
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

    /// - Throws: ``TenonError/Code/nonce``.
    init(checking text: String) throws(TenonError) {
        guard let bytes = UUIDBytes(text) else { throw TenonError(.nonce, message: "The nonce is not a UUID.") }
        self = bytes
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
