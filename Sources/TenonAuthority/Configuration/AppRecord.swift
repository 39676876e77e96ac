// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// What an app's devices may and must do.
package struct AppRecord: Equatable, Sendable {
    package enum Dialect: String, ConfigurationChoice, Sendable {
        case docs
        case tenon
    }

    /// What makes an EK good (security.md 1.2).
    package enum Admission: String, ConfigurationChoice, Sendable {
        /// Its certificate ends below one of the roots.
        case chain
        /// It is on the allow-list.
        case inventory
        case both

        package var needsChain: Bool { self != .inventory }
        package var needsInventory: Bool { self != .chain }
    }

    /// A rotation of an attested device in a dialect that has no place for the proof.
    package enum UnprovenRotation: String, ConfigurationChoice, Sendable {
        case refuse
        case markUnattested = "mark_unattested"
    }

    /// Requests of version 1 with a query string, which that version does not sign.
    package enum Version1Query: String, ConfigurationChoice, Sendable {
        case refuse
        /// Of POST, PUT, PATCH and DELETE.
        case refuseWrites = "refuse_writes"
        case allow
    }

    /// A PEM file, or a folder of them.
    package struct EKRoots: Hashable, Sendable {
        package var path: String
        /// For makers whose authorities sign other things too.
        package var requiresEKU: Bool

        package init(path: String, requiresEKU: Bool = false) {
            self.path = path
            self.requiresEKU = requiresEKU
        }
    }

    package var id: String
    package var dialects: Set<Dialect>
    package var requiresAttestation: Bool
    package var ekAdmission: Admission
    package var ekRoots: [EKRoots]
    /// ek_ids: SHA-256 of the EK's SubjectPublicKeyInfo.
    package var ekAllowList: Set<Digest>
    package var maxDevicesPerEK: Int
    /// Devices of development builds may register unattested.
    package var allowsDevelopment: Bool
    /// Signatures by an older key are refused; nil is no limit.
    package var maxKeyAgeDays: Int?
    package var unprovenRotation: UnprovenRotation
    package var version1Query: Version1Query

    /// - Parameter isLocal: whether only this machine can ask for anything.
    init(_ section: inout ConfigurationSection, isLocal: Bool) throws(TenonError) {
        id = try section.required("id", "1 to 200 ASCII letters, digits, signs", ConfigurationForm.appID)
        let dialects = try section.list("dialects", Dialect.words) { $0.string.flatMap(Dialect.init(rawValue:)) }
        self.dialects = dialects.isEmpty ? Set(Dialect.allCases) : Set(dialects)
        requiresAttestation = try section.bool("require_attestation", default: true)
        ekAdmission = try section.choice("ek_admission", default: .chain)
        ekRoots = try section.sections("ek_roots") { section throws(TenonError) in
            EKRoots(
                path: try section.required("path", "a PEM file or a folder of them", ConfigurationForm.path),
                requiresEKU: try section.bool("require_eku", default: false))
        }
        ekAllowList = Set(try section.list("ek_allow_list", "a SHA-256 in hex", ConfigurationForm.digest))
        maxDevicesPerEK = try section.integer("max_devices_per_ek", 1...1_000_000, default: 8)
        allowsDevelopment = try section.bool("allow_development", default: false)
        maxKeyAgeDays = try section.optionalInteger("max_key_age_days", 1...36_500)
        unprovenRotation = try section.choice("unproven_rotation", default: .refuse)
        version1Query = try section.choice("v1_query", default: .refuseWrites)
        try check(section, isLocal: isLocal)
    }

    private func check(_ section: ConfigurationSection, isLocal: Bool) throws(TenonError) {
        // On loopback a demo may start first and be told by its first registration (build.md 27).
        if ekAdmission.needsChain && ekRoots.isEmpty && requiresAttestation && !isLocal {
            throw section.mistake("needs \"ek_roots\": without roots no EK certificate is good")
        }
        if ekAdmission.needsInventory && ekAllowList.isEmpty {
            throw section.mistake("needs \"ek_allow_list\": its admission is by inventory", "ek_admission")
        }
        if !ekAdmission.needsInventory && !ekAllowList.isEmpty {
            throw section.mistake(
                "is not asked: \"ek_admission\" has to be \"inventory\" or \"both\"", "ek_allow_list")
        }
        if unprovenRotation == .markUnattested && requiresAttestation {
            throw section.mistake("has to be \"refuse\" where attestation is required", "unproven_rotation")
        }
    }
}
