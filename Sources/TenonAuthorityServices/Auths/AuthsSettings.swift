// SPDX-License-Identifier: Apache-2.0
internal import Tenon
package import TenonAuthority

/// The settings in an app's record that only this service uses.
package struct AuthsSettings: ServiceSettings {
    /// The most identities of the app.
    package var maxIdentities: Int
    /// The most events of an identity.
    package var maxEvents: Int
    /// The most bytes of all events of an identity, with their attachments.
    package var maxLogBytes: Int64
    /// The audience that presentations must name; nil means the origin at which the request arrived.
    package var audience: String?
    /// Whether `POST /api` accepts data with a signature and nothing else, which anybody who saw it can send again.
    package var acceptsBareSignatures: Bool

    init(_ section: inout ConfigurationSection, _ app: AppRecord) throws(TenonError) {
        maxIdentities = try section.integer("max_identities", 1...100_000_000, default: 100_000)
        maxEvents = try section.integer("max_events", 1...1_000_000, default: 10_001)
        maxLogBytes = Int64(try section.integer("max_log_bytes", 1_024...1 << 40, default: 8 << 20))
        audience = try section.optional("audience", "1 to 200 characters without NUL") { json in
            json.string.flatMap { 1...200 ~= $0.utf8.count && !$0.utf8.contains(0) ? $0 : nil }
        }
        acceptsBareSignatures = try section.bool("bare_signatures", default: false)
        if app.requiresAttestation {
            throw section.mistake(
                "must be false: an inception has no place for the proof of a TPM", "require_attestation")
        }
    }

    package func notes(on app: AppRecord) -> [String] {
        guard acceptsBareSignatures else { return [] }
        return ["app \(app.id): \"bare_signatures\" accepts data that somebody else sends again"]
    }
}
