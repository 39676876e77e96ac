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
    /// TPMs that are not taken, by what their certificates say of them.
    public var deniedModels: [Model]

    /// TPMs with these texts, as an ``EndorsementKey`` has them, letters in either case. An empty text is any.
    public struct Model: Hashable, Sendable {
        public var maker: String
        public var model: String
        public var version: String

        public init(maker: String = "", model: String = "", version: String = "") {
            self.maker = maker
            self.model = model
            self.version = version
        }
    }

    public init(
        roots: [[UInt8]], now: Int64, requiresUsage: Bool = false, allowsSimulator: Bool = false,
        denied: [Digest] = [], deniedModels: [Model] = []
    ) {
        self.roots = roots
        self.now = now
        self.requiresUsage = requiresUsage
        self.allowsSimulator = allowsSimulator
        self.denied = denied
        self.deniedModels = deniedModels
    }
}
