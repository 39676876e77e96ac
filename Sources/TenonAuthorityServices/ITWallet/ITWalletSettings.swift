// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority

/// The settings in an app's record that only this service uses.
struct ITWalletSettings: ServiceSettings {
    /// Whether `hardware_signature` is over the digest of the client data as a message of its own, so that there are two
    /// hashes; else over the client data.
    let signsDigest: Bool
    /// The PCRs of the SHA-256 bank that an `integrity_assertion` quotes.
    let pcrs: Set<Int>
    /// The digests of their values that are accepted; with none, any are.
    let pcrDigests: [Digest]

    private static let usualPCRs: Set<Int> = [0, 1, 2, 3, 4, 5, 6, 7]

    init(_ section: inout ConfigurationSection, _ app: AppRecord) throws(TenonError) {
        signsDigest = try section.bool("double_hash", default: false)
        let pcrs = try section.list("pcrs", "a whole number from 0 to 23") { json in
            json.integer.flatMap { 0...23 ~= $0 ? Int($0) : nil }
        }
        self.pcrs = pcrs.isEmpty ? ITWalletSettings.usualPCRs : Set(pcrs)
        pcrDigests = try section.list("pcr_digests", "a SHA-256 in hex") { json -> Digest? in
            guard let text = json.string, let bytes = try? TextEncoding.hex.decode(text) else { return nil }
            return try? Digest(rawRepresentation: bytes)
        }
        try ITWalletSettings.check(section, app)
    }

    /// Refuses settings that an instance could never meet, or that would change nothing.
    private static func check(_ section: ConfigurationSection, _ app: AppRecord) throws(TenonError) {
        if !app.requiresAttestation {
            throw section.mistake("must be true: an instance sends its key only in a proof", "require_attestation")
        }
        if app.registration == .approve {
            throw section.mistake(
                "must be \"open\": this service has no answer for an instance that waits", "registration")
        }
        if app.requiresOwnerHierarchy {
            throw section.mistake(
                "must be false: an instance of this service cannot name the parent of its key",
                "require_owner_hierarchy")
        }
        if app.allowsDevelopment {
            throw section.mistake("must be false: this service has no development builds", "allow_development")
        }
        if app.maxKeyAgeDays != nil {
            throw section.mistake("must be left out: an instance keeps its key for life", "max_key_age_days")
        }
    }
}
