// SPDX-License-Identifier: Apache-2.0
internal import CTenon

/// The requirements for a ``Proof``.
public struct ProofPolicy: Hashable, Sendable {
    /// Who the attestation key is.
    public enum Trust: Hashable, Sendable {
        /// This key, which the service has from elsewhere than the request that brings the proof.
        case ak(PublicArea, firmware: Firmware? = nil)
        /// The leaf of the proof's certificates, which must chain to one of these certificates (DER). Without any of
        /// them no proof is accepted.
        case roots([[UInt8]], makers: Makers? = nil)
    }

    /// The least firmware version. The attestation key must be under this endorsement key: for any other a TPM hides the
    /// version, and to demand one is ``TenonError/Code/options``.
    public struct Firmware: Hashable, Sendable {
        /// The Name of the endorsement key, with SHA-256 or SHA-384.
        public var ekName: [UInt8]
        /// The least version, as TPMS_ATTEST has it.
        public var least: UInt64

        /// Demands a version of TPMs with this endorsement key.
        public init(ekName: [UInt8], least: UInt64) {
            self.ekName = ekName
            self.least = least
        }
    }

    /// The TPM makers that are known. One that is not is noted in the report.
    public struct Makers: Hashable, Sendable {
        /// Texts as certificates have them, such as `id:494E5443`.
        public var names: [String]
        /// Whether another maker's proof is refused. True without names is ``TenonError/Code/options``.
        public var areRequired: Bool

        /// Names the makers.
        public init(_ names: [String], areRequired: Bool = false) {
            self.names = names
            self.areRequired = areRequired
        }
    }

    /// Who the attestation key is.
    public var trust: Trust
    /// Unix seconds, for the dates of certificates.
    public var now: Int64
    /// The qualified Name that the key's parent must have, 34 bytes. Without it the report says that the hierarchy is
    /// not known.
    public var parentQualifiedName: [UInt8]?

    /// Demands an attestation key that is trusted so.
    public init(trust: Trust, now: Int64, parentQualifiedName: [UInt8]? = nil) {
        self.trust = trust
        self.now = now
        self.parentQualifiedName = parentQualifiedName
    }
}

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
