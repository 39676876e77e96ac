// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// An identity that has files in a folder.
package struct KnownIdentity: Sendable {
    /// The prefix of the names of its files.
    package let id: String
    /// nil where neither the record nor the one before says it.
    package let name: IdentityName?
    package let record: Reading<IdentityRecord>

    fileprivate var order: (String, String, String) { (name?.baseURL ?? "", name?.appID ?? "", id) }
}

extension IdentityRecord {
    /// Where the identity stands, as far as this record says.
    package var status: IdentityStatus { IdentityStatus(self) }
}

extension StateFolder {
    /// Whether there is a folder, or anything else, in this place. One that is absent is not made to look into it.
    package static func isThere(at path: String) -> Bool { access(path, F_OK) == 0 }

    /// The identities that have files here, by service and app.
    package func identities() throws(TenonError) -> [KnownIdentity] {
        let ids = Set(try names().filter { !$0.hasSuffix(".lock") }.compactMap(Self.id))
        var known: [KnownIdentity] = []
        for id in ids {
            let file = id + ".record"
            guard let name = name(namedIn: file) ?? name(namedIn: file + Self.previous), name.id == id else {
                known.append(KnownIdentity(id: id, name: nil, record: .unreadable(unreadable(file))))
                continue
            }
            known.append(KnownIdentity(id: id, name: name, record: RecordStore(name, in: self).read()))
        }
        return known.sorted { $0.order < $1.order }
    }

    /// The identity whose file has this name.
    private static func id(of file: String) -> String? {
        let id = file.prefix { $0 != "." }
        return id.utf8.count == 32 && id.utf8.count < file.utf8.count ? String(id) : nil
    }

    private func name(namedIn file: String) -> IdentityName? {
        guard case .found(let record) = decoded(file) else { return nil }
        return record.name
    }

    private func unreadable(_ file: String) -> TenonError {
        guard case .unreadable(let error) = decoded(file) else { return .stateMissing }
        return error
    }

    private func decoded(_ file: String) -> Reading<IdentityRecord> {
        read(file, atMost: RecordFile.longest).map { file throws(TenonError) in try RecordFile.decode(file.bytes) }
    }
}

// Files that are no longer in use, but kept.
extension StateFolder {
    /// The names of the files in the attic.
    package func atticNames() throws(TenonError) -> [String] { try attic().names().sorted() }

    /// Deletes everything in the attic of one identity. It never comes back.
    ///
    /// - Returns: the names of what was deleted.
    package func emptyAttic(of prefix: String) throws(TenonError) -> [String] {
        let attic = try attic()
        let names = try attic.names().filter { $0.hasPrefix(prefix) }.sorted()
        for name in names { try attic.remove(name) }
        if !names.isEmpty { try attic.sync() }
        return names
    }
}
