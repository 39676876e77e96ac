// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// The rules for an app's devices that do not depend on its service; `settings` has the rest.
package struct AppRecord: Equatable, Sendable {
    /// The condition for admitting an EK (decision: admitted-tpm).
    package enum Admission: String, ConfigurationChoice, Sendable {
        /// Its certificate ends below one of the roots.
        case chain
        /// It is on the allow-list.
        case inventory
        case both

        package var needsChain: Bool { self != .inventory }
        package var needsInventory: Bool { self != .chain }
    }

    /// The answer to a rotation of an attested device in a dialect that has no place for the proof.
    package enum UnprovenRotation: String, ConfigurationChoice, Sendable {
        case refuse
        case markUnattested = "mark_unattested"
    }

    /// A PEM file, or a folder of them.
    package struct EKRoots: Hashable, Sendable {
        package var path: String
        /// Whether an EK certificate must name its use, for makers whose authorities also sign other certificates.
        package var requiresEKU: Bool

        package init(path: String, requiresEKU: Bool = false) {
            self.path = path
            self.requiresEKU = requiresEKU
        }
    }

    /// Decides whether a device that may register is active at once.
    package enum Registration: String, ConfigurationChoice, Sendable {
        case open
        /// An operator decides. Until then, the device waits and its signatures are refused.
        case approve
    }

    package var id: String
    /// The name of the service that it belongs to.
    package var service: String
    package var requiresAttestation: Bool
    package var ekAdmission: Admission
    package var ekRoots: [EKRoots]
    /// The TPMs by ek_id (SHA-256 of the EK's SubjectPublicKeyInfo), with the operator's words for each, in the form of
    /// EK certificates. An empty word was not given.
    package var inventory: [Digest: EndorsementPolicy.Model]
    package var maxDevicesPerEK: Int
    package var registration: Registration
    /// The most devices that may wait for approval.
    package var maxPending: Int
    /// Keys must be below a primary key of the owner hierarchy; the device names it.
    package var requiresOwnerHierarchy: Bool
    /// Devices of development builds may register unattested.
    package var allowsDevelopment: Bool
    /// Signatures by an older key are refused; nil means no limit.
    package var maxKeyAgeDays: Int?
    package var unprovenRotation: UnprovenRotation
    /// The settings that only its service uses.
    package var settings: AnyServiceSettings

    /// - Parameter isLocal: whether only this machine can connect.
    init(
        _ section: inout ConfigurationSection, isLocal: Bool, services: [HostedService]
    ) throws(TenonError) {
        id = try section.required("id", "1 to 200 ASCII letters, digits, signs", ConfigurationForm.appID)
        let names = services.map { "\"\($0.name)\"" }.joined(separator: " or ")
        let named = try section.optional("service", names) { json in services.first { $0.name == json.string } }
        guard let service = named ?? services.first else { throw section.mistake("is not a known service") }
        self.service = service.name
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
        settings = AnyServiceSettings(value: NoSettings())
        let firmware = try section.optional("firmware_min", "a number", \.number)
        try check(section, isLocal: isLocal)
        try checkDemands(section, hasFirmware: firmware != nil)
        settings = AnyServiceSettings(value: try service.settings(&section, self))
    }

    /// The settings, if its service has settings of this type.
    package func settings<Settings: ServiceSettings>(_ type: Settings.Type) -> Settings? {
        settings.value as? Settings
    }

    /// A line is an ek_id, or an object with more details.
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
        guard inventory.count == lines.count else { throw section.mistake("lists a TPM twice", "ek_allow_list") }
        return inventory
    }

    private func check(_ section: ConfigurationSection, isLocal: Bool) throws(TenonError) {
        // On loopback, a demo may start without roots; its first registration then reports the mistake (decision:
        // demo).
        if ekAdmission.needsChain && ekRoots.isEmpty && requiresAttestation && !isLocal {
            throw section.mistake("needs \"ek_roots\": without roots no EK certificate is valid")
        }
        if ekAdmission.needsInventory && inventory.isEmpty {
            throw section.mistake("needs \"ek_allow_list\": its admission uses an inventory", "ek_admission")
        }
        if !ekAdmission.needsInventory && !inventory.isEmpty {
            throw section.mistake(
                "has no effect unless \"ek_admission\" is \"inventory\" or \"both\"", "ek_allow_list")
        }
    }

    /// Refuses demands that could never be enforced.
    private func checkDemands(_ section: ConfigurationSection, hasFirmware: Bool) throws(TenonError) {
        if unprovenRotation == .markUnattested && requiresAttestation {
            throw section.mistake("must be \"refuse\" if attestation is required", "unproven_rotation")
        }
        if hasFirmware {
            throw section.mistake(
                "cannot be judged: devices make their attestation keys in the storage hierarchy, where a TPM hides the "
                    + "firmware version. Deny versions with \"ek_deny\" instead",
                "firmware_min")
        }
        if requiresOwnerHierarchy && !requiresAttestation {
            throw section.mistake(
                "needs \"require_attestation\": otherwise a device need not prove anything",
                "require_owner_hierarchy")
        }
    }
}

/// The settings of an app whose service has not read them yet.
private struct NoSettings: ServiceSettings {}

/// A backend that may ask whether a request is valid (decision: verify-endpoint).
package struct BackendRecord: Equatable, Sendable {
    package var name: String
    /// SHA-256 of its token, which is a text of 32 random bytes. The token itself is not stored.
    package var tokenDigest: Digest
    /// The apps whose devices it may ask about.
    package var apps: Set<String>
    /// The prefix of its paths that devices do not sign, like `/ingest`; "" means no prefix.
    package var mount: String
    /// The hosts that its requests may name, each with its port unless that is the scheme's own. An empty set allows any
    /// host in version 1, which does not sign it, and none in version 2.
    package var hosts: Set<String>

    init(_ section: inout ConfigurationSection, apps known: [String]) throws(TenonError) {
        name = try section.required("name", "1 to 64 of A-Z a-z 0-9 . _ -", ConfigurationForm.name)
        tokenDigest = try section.required("token_sha256", "a SHA-256 in hex", ConfigurationForm.digest)
        apps = Set(
            try section.list("apps", "the id of an app that \"apps\" lists") { json in
                json.string.flatMap { known.contains($0) ? $0 : nil }
            })
        mount = try section.optional("mount", "\"\" or a path like \"/ingest\"", ConfigurationForm.mount) ?? ""
        hosts = Set(
            try section.list("hosts", "a host in lower case, perhaps with a port", ConfigurationForm.authority))
        if apps.isEmpty { throw section.mistake("needs \"apps\", at least one") }
    }
}

/// A digest of the rules for an app's devices. Instances compare it, so that none accepts a device that another one
/// refuses.
///
/// Every member of the record counts, including members that are added later. Roots count by their contents, because
/// their paths may differ from machine to machine.
enum PolicyDigest {
    static func of(
        _ app: AppRecord, roots: [EndorsementRoots], denials: EndorsementDenials
    ) throws(TenonError) -> Digest {
        var record = app
        record.ekRoots = []
        let text = "\(text(of: record)) \(text(of: roots)) \(text(of: denials.ids)) \(text(of: denials.models))"
        return try Digest(hashing: Array(text.utf8))
    }

    /// Sorts the elements of sets and dictionaries, which have no order of their own.
    static func text(of value: Any) -> String {
        if let digest = value as? Digest { return digest.description }
        if let text = value as? String { return String(reflecting: text) }
        let mirror = Mirror(reflecting: value)
        let parts = mirror.children.map { child in (child.label.map { $0 + "=" } ?? "") + text(of: child.value) }
        switch mirror.displayStyle {
        case .set, .dictionary: return "{\(parts.sorted().joined(separator: ","))}"
        case .collection, .tuple, .struct, .class, .optional: return "(\(parts.joined(separator: ",")))"
        // A case without values is written as its name.
        case .enum where !parts.isEmpty: return "(\(parts.joined(separator: ",")))"
        default: return "\(value)"
        }
    }
}
