// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// TPMs that no app takes, as an operator knows them (security.md 1.2), beside those that are revoked while the authority
/// runs.
package struct EndorsementDenials: Equatable, Sendable {
    /// ek_ids.
    package var ids: Set<Digest> = []
    /// Makers, models and firmware, of EK certificates that chain.
    package var models: [EndorsementPolicy.Model] = []
    /// PEM files of certificate revocation lists, or folders of them; nothing is fetched.
    package var lists: [String] = []

    package init() {}

    init(_ section: inout ConfigurationSection) throws(TenonError) {
        ids = Set(try section.list("ek_ids", "a SHA-256 in hex", ConfigurationForm.digest))
        models = try section.sections("models") { section throws(TenonError) in
            func text(_ name: String) throws(TenonError) -> String {
                try section.optional(name, "a text of 1 to 255 bytes") { json in
                    json.string.flatMap { 1...255 ~= $0.utf8.count ? $0 : nil }
                } ?? ""
            }
            let model = EndorsementPolicy.Model(
                maker: try text("maker"), model: try text("model"), version: try text("version"))
            guard model != .init() else {
                throw section.mistake("needs \"maker\", \"model\" or \"version\": without them it is every TPM")
            }
            return model
        }
        lists = try section.list("crls", "a PEM file or a folder of them", ConfigurationForm.path)
    }
}
