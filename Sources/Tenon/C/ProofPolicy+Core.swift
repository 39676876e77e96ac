// SPDX-License-Identifier: Apache-2.0
internal import CTenon

extension ProofPolicy {
    /// The policy as the core takes it, for the call.
    func withCore<Result>(_ body: (UnsafePointer<tenon_policy>) -> Result) -> Result {
        (parentQualifiedName ?? []).withCoreBytes { parent in
            trust.withCore { core in
                var core = core
                core.size = MemoryLayout<tenon_policy>.size
                core.now = now
                core.parent_qualified_name = parent
                return withUnsafePointer(to: core, body)
            }
        }
    }
}

extension ProofPolicy.Trust {
    /// A policy with what belongs to this trust.
    fileprivate func withCore<Result>(_ body: (tenon_policy) -> Result) -> Result {
        switch self {
        case .ak(let area, let firmware): Self.withCore(area, firmware, body)
        case .roots(let roots, let makers): Self.withCore(roots, makers, body)
        }
    }

    private static func withCore<Result>(
        _ area: PublicArea, _ firmware: ProofPolicy.Firmware?, _ body: (tenon_policy) -> Result
    ) -> Result {
        area.dataRepresentation.withCoreBytes { area in
            (firmware?.ekName ?? []).withCoreBytes { ekName in
                var core = tenon_policy()
                core.trust = UInt32(TENON_TRUST_AK)
                core.ak = area
                core.ek_name = ekName
                core.firmware_min = firmware?.least ?? 0
                return body(core)
            }
        }
    }

    private static func withCore<Result>(
        _ roots: [[UInt8]], _ makers: ProofPolicy.Makers?, _ body: (tenon_policy) -> Result
    ) -> Result {
        roots.withCoreBytes { roots, rootsCount in
            (makers?.names ?? []).map { Array($0.utf8) }.withCoreBytes { names, namesCount in
                var core = tenon_policy()
                core.trust = UInt32(TENON_TRUST_ROOTS)
                core.flags = makers?.areRequired == true ? UInt32(TENON_POLICY_REQUIRE_MAKER) : 0
                core.roots = roots?.assumingMemoryBound(to: tenon_bytes.self)
                core.roots_count = rootsCount
                core.makers = names?.assumingMemoryBound(to: tenon_bytes.self)
                core.makers_count = namesCount
                return body(core)
            }
        }
    }
}
