// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonCommandLine

/// `tenon keys list` and `tenon keys purge`.
enum KeysCommand {
    static func list(_ setting: Setting) throws(TenonError) -> Answer {
        let identities = try setting.identities()
        let attic = try atticNames(setting, of: identities)
        var lines: [String] = []
        for known in identities { lines += rows(known) }
        lines += attic.map { "attic  \($0)" }
        return Answer(
            lines: lines.isEmpty ? ["no key in \(try setting.folderPath())"] : lines,
            json: ["keys": .array(identities.flatMap(json)), "attic": .array(attic.map { .string($0) })])
    }

    static func purge(_ setting: Setting) async throws(TenonError) -> Answer {
        let isOld = setting.arguments.has("--old")
        guard isOld || setting.arguments.has("--yes") else {
            throw TenonError(
                .options,
                message: "Purged keys never come back, not even for a TPM that could use them again.",
                mend: "To purge all of them: --yes; to purge only old ones: --old")
        }
        var purged: [String] = []
        let thread = WorkThread()
        if let folder = try setting.folder() {
            for known in try setting.identities() {
                // A running operation may be bringing a key back from the attic.
                let held = try await FileLock("\(known.id).lock", in: folder)
                    .acquire(before: .now + .seconds(5), on: ContinuousClock(), by: thread)
                defer { held.release() }
                let prefix = known.id + "."
                purged +=
                    isOld
                    ? try folder.purgeAttic(of: prefix, now: time(nil)) : try folder.emptyAttic(of: prefix)
            }
        }
        return Answer(
            lines: ["purged \(purged.count) file\(purged.count == 1 ? "" : "s")"],
            json: ["purged": .array(purged.map { .string($0) })])
    }

    private static func atticNames(
        _ setting: Setting, of identities: [KnownIdentity]
    ) throws(TenonError) -> [String] {
        guard !identities.isEmpty, let folder = try setting.folder() else { return [] }
        return try folder.atticNames().filter { name in identities.contains { name.hasPrefix($0.id + ".") } }
    }

    private static func rows(_ known: KnownIdentity) -> [String] {
        guard case .found(let record) = known.record else { return [] }
        let keys = record.keys.map { key in
            "\(key.role.rawValue)  generation \(key.generation)  \(key.isHardware ? "TPM" : "software")"
                + "  \(known.id).g\(key.generation).pem"
        }
        return keys + (record.attestationKey == nil ? [] : ["attestation  TPM  \(known.id).ak.pem"])
    }

    private static func json(_ known: KnownIdentity) -> [JSON] {
        guard case .found(let record) = known.record else { return [] }
        return record.keys.map { key in
            [
                "id": .string(known.id), "app_id": .string(record.name.appID), "role": .string(key.role.rawValue),
                "generation": .integer(Int64(key.generation)), "hardware": .bool(key.isHardware),
                "offered": .bool(key.isOffered),
            ]
        }
    }
}
