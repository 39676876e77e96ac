// SPDX-License-Identifier: Apache-2.0
internal import CTenon

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
