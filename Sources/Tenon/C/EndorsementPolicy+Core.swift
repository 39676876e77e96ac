// SPDX-License-Identifier: Apache-2.0
internal import CTenon

extension EndorsementPolicy {
    /// The policy as the core takes it, for the call.
    func withCore<Result>(_ body: (UnsafePointer<tenon_ek_policy>) -> Result) -> Result {
        roots.withCoreBytes { roots, rootsCount in
            denied.map(\.core).withUnsafeBufferPointer { denied in
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
                return withUnsafePointer(to: core, body)
            }
        }
    }
}
