// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// What an app's devices may and must do.
package struct AppRecord: Equatable, Sendable {
    package enum Dialect: String, ConfigurationChoice, Sendable {
        case docs
        case tenon
    }

    /// What makes an EK good (decision: admitted-tpm).
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
        /// Of every method but GET and HEAD, which alone promise to change nothing.
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

    /// Who decides about a device that may register.
    package enum Registration: String, ConfigurationChoice, Sendable {
        case open
        /// An operator: until then the device waits, and signs nothing.
        case approve
    }

    package var id: String
    package var dialects: Set<Dialect>
    package var requiresAttestation: Bool
    package var ekAdmission: Admission
    package var ekRoots: [EKRoots]
    /// TPMs by their ek_ids, SHA-256 of the EK's SubjectPublicKeyInfo, and what the operator says of each, in the words
    /// of EK certificates; an empty one was not given.
    package var inventory: [Digest: EndorsementPolicy.Model]
    package var maxDevicesPerEK: Int
    package var registration: Registration
    /// Devices that wait for approval at the same time.
    package var maxPending: Int
    /// Keys have to be below a primary key of the owner hierarchy; the device names it.
    package var requiresOwnerHierarchy: Bool
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
        inventory = try AppRecord.inventory(&section)
        maxDevicesPerEK = try section.integer("max_devices_per_ek", 1...1_000_000, default: 8)
        registration = try section.choice("registration", default: .open)
        maxPending = try section.integer("max_pending", 1...1_000_000, default: 1_000)
        requiresOwnerHierarchy = try section.bool("require_owner_hierarchy", default: false)
        allowsDevelopment = try section.bool("allow_development", default: false)
        maxKeyAgeDays = try section.optionalInteger("max_key_age_days", 1...36_500)
        unprovenRotation = try section.choice("unproven_rotation", default: .refuse)
        version1Query = try section.choice("v1_query", default: .refuseWrites)
        let firmware = try section.optional("firmware_min", "a number", \.number)
        try check(section, isLocal: isLocal)
        try checkRotation(section)
        try checkDemands(section, hasFirmware: firmware != nil)
    }

    /// A line is an ek_id, or says more.
    private static func inventory(
        _ section: inout ConfigurationSection
    ) throws(TenonError) -> [Digest: EndorsementPolicy.Model] {
        let lines = try section.mixed("ek_allow_list", "a SHA-256 in hex, or an object with one in \"ek_id\"") { json in
            ConfigurationForm.digest(json).map { ($0, EndorsementPolicy.Model()) }
        } _: { section throws(TenonError) in
            let id = try section.required("ek_id", "a SHA-256 in hex", ConfigurationForm.digest)
            func word(_ name: String) throws(TenonError) -> String {
                try section.optional(name, "1 to 64 ASCII letters, digits, signs, spaces", ConfigurationForm.word) ?? ""
            }
            let words = EndorsementPolicy.Model(
                maker: try word("maker"), model: try word("model"), version: try word("version"))
            return (id, words)
        }
        let inventory = Dictionary(lines) { first, _ in first }
        guard inventory.count == lines.count else { throw section.mistake("has a TPM twice", "ek_allow_list") }
        return inventory
    }

    private func check(_ section: ConfigurationSection, isLocal: Bool) throws(TenonError) {
        // On loopback a demo may start first and be told by its first registration (decision: demo).
        if ekAdmission.needsChain && ekRoots.isEmpty && requiresAttestation && !isLocal {
            throw section.mistake("needs \"ek_roots\": without roots no EK certificate is good")
        }
        if ekAdmission.needsInventory && inventory.isEmpty {
            throw section.mistake("needs \"ek_allow_list\": its admission is by inventory", "ek_admission")
        }
        if !ekAdmission.needsInventory && !inventory.isEmpty {
            throw section.mistake(
                "is not asked: \"ek_admission\" has to be \"inventory\" or \"both\"", "ek_allow_list")
        }
    }

    /// Who cannot rotate must not have to.
    private func checkRotation(_ section: ConfigurationSection) throws(TenonError) {
        if unprovenRotation == .markUnattested && requiresAttestation {
            throw section.mistake("has to be \"refuse\" where attestation is required", "unproven_rotation")
        }
        if maxKeyAgeDays != nil && requiresAttestation && cannotRotateInDocs {
            throw section.mistake(
                "ends with devices that cannot sign: an attested device of dialect \"docs\" cannot prove a rotation, and "
                    + "\"unproven_rotation\" refuses it. Set \"dialects\" to [\"tenon\"], or leave this out",
                "max_key_age_days")
        }
    }

    /// Whether an attested device that speaks `docs` keeps its first key for ever: its rotation has no place for a
    /// proof.
    package var cannotRotateInDocs: Bool { dialects.contains(.docs) && unprovenRotation == .refuse }

    /// What could never be asked is not taken for a demand.
    private func checkDemands(_ section: ConfigurationSection, hasFirmware: Bool) throws(TenonError) {
        if hasFirmware {
            throw section.mistake(
                "cannot be judged: devices make their attestation keys in the storage hierarchy, of which a TPM hides the "
                    + "firmware version. Deny versions by \"ek_deny\" instead",
                "firmware_min")
        }
        guard requiresOwnerHierarchy else { return }
        if dialects != [.tenon] {
            throw section.mistake(
                "needs \"dialects\" to be [\"tenon\"]: in \"docs\" a device cannot name the parent of its key",
                "require_owner_hierarchy")
        }
        if !requiresAttestation {
            throw section.mistake(
                "needs \"require_attestation\": else a device need not prove anything",
                "require_owner_hierarchy")
        }
    }
}
