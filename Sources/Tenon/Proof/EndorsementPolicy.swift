// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// The requirements for the certificate of an ``EndorsementKey``.
public struct EndorsementPolicy: Hashable, Sendable {
    /// The certificates (DER) below which a chain must end. Without any of them no certificate is accepted.
    public var roots: [[UInt8]]
    /// Unix seconds.
    public var now: Int64
    /// Whether a certificate must name its use, EKU 2.23.133.8.1. Otherwise it may name none.
    public var requiresUsage: Bool
    /// Whether makers that are known to be software are accepted.
    public var allowsSimulator: Bool
    /// Keys that are no longer accepted, by their ``EndorsementKey/id``.
    public var denied: [Digest]
    /// TPMs that are not accepted, by what their certificates say about them.
    public var deniedModels: [Model]

    /// TPMs with these texts, as an ``EndorsementKey`` has them, letters in either case. An empty text is any.
    public struct Model: Hashable, Sendable {
        /// The TPM's maker.
        public var maker: String
        /// The TPM's model.
        public var model: String
        /// The TPM's version.
        public var version: String

        /// Names TPMs by these texts.
        public init(maker: String = "", model: String = "", version: String = "") {
            self.maker = maker
            self.model = model
            self.version = version
        }
    }

    /// Demands a chain to one of the roots; the other parameters are the properties of the same names.
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

extension EndorsementPolicy {
    /// The policy as the core takes it, for the call.
    func withCore<Result>(_ body: (UnsafePointer<tenon_ek_policy>) -> Result) -> Result {
        roots.withCoreBytes { roots, rootsCount in
            denied.map(\.core).withUnsafeBufferPointer { denied in
                withCoreModels { models in
                    var core = tenon_ek_policy()
                    core.size = MemoryLayout<tenon_ek_policy>.size
                    core.flags =
                        (requiresUsage ? UInt32(TENON_EK_REQUIRE_USAGE) : 0)
                        | (allowsSimulator ? UInt32(TENON_EK_ALLOW_SIMULATOR) : 0)
                    core.roots = roots?.assumingMemoryBound(to: tenon_bytes.self)
                    core.roots_count = rootsCount
                    core.now = now
                    core.denied = denied.baseAddress
                    core.denied_count = denied.count
                    core.denied_models = models.baseAddress
                    core.denied_models_count = models.count
                    return withUnsafePointer(to: core, body)
                }
            }
        }
    }

    private func withCoreModels<Result>(_ body: (UnsafeBufferPointer<tenon_ek_pattern>) -> Result) -> Result {
        let texts = deniedModels.flatMap { [Array($0.maker.utf8), Array($0.model.utf8), Array($0.version.utf8)] }
        return texts.withCoreBytes { texts, count in
            let texts = UnsafeBufferPointer(start: texts?.assumingMemoryBound(to: tenon_bytes.self), count: count)
            let models = deniedModels.indices.map {
                tenon_ek_pattern(maker: texts[3 * $0], model: texts[3 * $0 + 1], version: texts[3 * $0 + 2])
            }
            return models.withUnsafeBufferPointer(body)
        }
    }
}
