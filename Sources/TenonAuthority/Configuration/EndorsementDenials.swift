// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// The TPMs that an operator denies to every app (decision: admitted-tpm), in addition to those that are revoked while
/// the authority runs.
package struct EndorsementDenials: Equatable, Sendable {
    /// ek_ids.
    package var ids: Set<Digest> = []
    /// Makers, models and firmware, as EK certificates and inventories name them.
    package var models: [EndorsementPolicy.Model] = []
    /// PEM files of certificate revocation lists, or folders of them; nothing is fetched.
    package var lists: [String] = []

    package init() {}

    /// Whether a TPM is denied, by its EK or by the words about it, which come from a possibly unverified certificate
    /// and from an inventory. A lie in one source does not hide the words of the other.
    func contain(_ id: Digest, _ descriptions: [EndorsementPolicy.Model]) -> Bool {
        func isNamed(_ denied: String, _ word: KeyPath<EndorsementPolicy.Model, String>) -> Bool {
            denied.isEmpty || descriptions.contains { $0[keyPath: word].lowercased() == denied.lowercased() }
        }
        return ids.contains(id)
            || models.contains {
                isNamed($0.maker, \.maker) && isNamed($0.model, \.model) && isNamed($0.version, \.version)
            }
    }

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
                throw section.mistake("needs \"maker\", \"model\" or \"version\": without them it matches every TPM")
            }
            return model
        }
        lists = try section.list("crls", "a PEM file or a folder of them", ConfigurationForm.path)
    }
}
