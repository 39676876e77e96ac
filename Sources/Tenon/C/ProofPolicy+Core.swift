// SPDX-License-Identifier: Apache-2.0
internal import CTenon

extension ProofPolicy {
    /// The policy as the core takes it, for the call.
    func withCore<Result>(_ body: (UnsafePointer<tenon_policy>) -> Result) -> Result {
        (parentQualifiedName ?? []).withCoreBytes { parent in
            trust.withCore { trust, ak, roots, rootsCount in
                var core = tenon_policy()
                core.size = MemoryLayout<tenon_policy>.size
                core.trust = trust
                core.ak = ak
                core.roots = roots
                core.roots_count = rootsCount
                core.now = now
                core.parent_qualified_name = parent
                return withUnsafePointer(to: core, body)
            }
        }
    }
}

extension ProofPolicy.Trust {
    fileprivate func withCore<Result>(
        _ body: (UInt32, tenon_bytes, UnsafePointer<tenon_bytes>?, Int) -> Result
    ) -> Result {
        switch self {
        case .ak(let area):
            area.dataRepresentation.withCoreBytes { body(UInt32(TENON_TRUST_AK), $0, nil, 0) }
        case .roots(let roots):
            roots.withCoreBytes {
                body(UInt32(TENON_TRUST_ROOTS), tenon_bytes(), $0?.assumingMemoryBound(to: tenon_bytes.self), $1)
            }
        }
    }
}
