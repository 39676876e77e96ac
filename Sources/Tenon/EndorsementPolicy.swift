// SPDX-License-Identifier: Apache-2.0

/// What is demanded of the certificate of an ``EndorsementKey``.
public struct EndorsementPolicy: Hashable, Sendable {
    /// The certificates (DER) below which a chain has to end. Without any of them no certificate is accepted.
    public var roots: [[UInt8]]
    /// Unix seconds.
    public var now: Int64
    /// Whether a certificate has to name its use, EKU 2.23.133.8.1. Else it may name none.
    public var requiresUsage: Bool
    /// Whether makers that are known to be software are taken.
    public var allowsSimulator: Bool
    /// Keys that are not taken any more, by their ``EndorsementKey/id``.
    public var denied: [Digest]

    public init(
        roots: [[UInt8]], now: Int64, requiresUsage: Bool = false, allowsSimulator: Bool = false, denied: [Digest] = []
    ) {
        self.roots = roots
        self.now = now
        self.requiresUsage = requiresUsage
        self.allowsSimulator = allowsSimulator
        self.denied = denied
    }
}
