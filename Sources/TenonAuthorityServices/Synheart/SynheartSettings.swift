// SPDX-License-Identifier: Apache-2.0
internal import Tenon
package import TenonAuthority

/// The settings in an app's record that only this service uses.
package struct SynheartSettings: ServiceSettings {
    /// How a device shows that its key is in a TPM.
    package enum Dialect: String, ConfigurationChoice, Sendable {
        /// By a certificate of its attestation key, as in the service's documents.
        case docs
        /// By an activation that is folded into the registration.
        case tenon
    }

    /// The answer to requests of version 1 with a query string, which that version does not sign.
    package enum Version1Query: String, ConfigurationChoice, Sendable {
        case refuse
        /// Refuses every method except GET and HEAD, which alone promise to change nothing.
        case refuseWrites = "refuse_writes"
        case allow
    }

    package var dialects: Set<Dialect>
    package var version1Query: Version1Query
    /// The versions of request signing that devices may use.
    package var signatureVersions: [Int]
    /// Whether one signature may stand for several requests.
    package var takesBatches: Bool

    init(_ section: inout ConfigurationSection, _ app: AppRecord) throws(TenonError) {
        let dialects = try section.list("dialects", Dialect.words) { $0.string.flatMap(Dialect.init(rawValue:)) }
        self.dialects = dialects.isEmpty ? Set(Dialect.allCases) : Set(dialects)
        version1Query = try section.choice("v1_query", default: .refuseWrites)
        let versions = try section.list("signature_versions", "1 or 2") { json in
            json.integer.flatMap { Int(exactly: $0) }.flatMap { RequestSigning.versions.contains($0) ? $0 : nil }
        }
        signatureVersions = versions.isEmpty ? Array(RequestSigning.versions) : versions.sorted()
        takesBatches = try section.bool("batches", default: true)
        try check(section, app)
    }

    /// The forms of version 2 that are taken; none if that version is not.
    var forms: [RequestSigning.Form] {
        guard signatureVersions.contains(2) else { return [] }
        return takesBatches ? [.plain, .batch] : [.plain]
    }

    private func check(_ section: ConfigurationSection, _ app: AppRecord) throws(TenonError) {
        if app.maxKeyAgeDays != nil && app.requiresAttestation && cannotRotateInDocs(app) {
            throw section.mistake(
                "leads to devices that cannot sign: an attested device of dialect \"docs\" cannot prove a rotation, and "
                    + "\"unproven_rotation\" refuses it. Set \"dialects\" to [\"tenon\"], or leave this out",
                "max_key_age_days")
        }
        if app.requiresOwnerHierarchy && dialects != [.tenon] {
            throw section.mistake(
                "needs \"dialects\" to be [\"tenon\"]: in \"docs\" a device cannot name the parent of its key",
                "require_owner_hierarchy")
        }
    }

    /// Whether an attested device that speaks `docs` must keep its first key for ever, because its rotation has no
    /// place for a proof.
    private func cannotRotateInDocs(_ app: AppRecord) -> Bool {
        dialects.contains(.docs) && app.unprovenRotation == .refuse
    }

    package func notes(on app: AppRecord) -> [String] {
        guard app.requiresAttestation, cannotRotateInDocs(app) else { return [] }
        return [
            "app \(app.id): attested devices of dialect \"docs\" keep their first keys, as they cannot prove a rotation; "
                + "those of dialect \"tenon\" rotate"
        ]
    }
}
