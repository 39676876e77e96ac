// SPDX-License-Identifier: Apache-2.0
internal import Glibc

// Nothing of an identity is deleted but by a purge that was asked for (decision: attic): it is moved into `attic/`.
extension StateFolder {
    private static let attic = "attic"
    private static let keptFiles = 16
    private static let keptSeconds = 90 * 24 * 60 * 60

    /// The folder of what is not in use.
    package func attic() throws(TenonError) -> StateFolder { try StateFolder(Self.attic, in: self) }

    /// Moves a file, if it is there, under a name that is free.
    ///
    /// - Returns: the name in the attic.
    @discardableResult
    package func moveToAttic(_ name: String, as keptName: String) throws(TenonError) -> String? {
        guard isThere(name) else { return nil }
        let attic = try attic()
        var (free, number) = (keptName, 1)
        while attic.isThere(free) {
            number += 1
            free = "\(keptName).\(number)"
        }
        try rename(name, to: free, in: attic)
        // Where it is first: a crash leaves two names rather than none.
        try attic.sync()
        try sync()
        return free
    }

    /// Moves a file back to a place that is free.
    package func restore(_ keptName: String, from attic: StateFolder, to name: String) throws(TenonError) {
        guard !isThere(name) else {
            throw TenonError(.keyGeneration, message: "The file already exists: \(path)/\(name)")
        }
        try attic.rename(keptName, to: name, in: self)
        try sync()
        try attic.sync()
    }

    /// Deletes what an identity does not need any more: of the files in the attic whose names begin so those that are
    /// both older than 90 days and not among the newest 16.
    ///
    /// - Parameter now: the time in seconds since 1970.
    /// - Returns: the names of what was deleted.
    package func purgeAttic(of prefix: String, now: Int) throws(TenonError) -> [String] {
        let attic = try attic()
        var files: [(name: String, moved: timespec)] = []
        for name in try attic.names() where name.hasPrefix(prefix) {
            // The time of the last rename: an old key that was moved yesterday is kept from then on.
            if let status = attic.status(ofName: name) { files.append((name, status.st_ctim)) }
        }
        files.sort { ($0.moved.tv_sec, $0.moved.tv_nsec, $0.name) > ($1.moved.tv_sec, $1.moved.tv_nsec, $1.name) }
        let old = files.dropFirst(Self.keptFiles).filter { now - $0.moved.tv_sec > Self.keptSeconds }.map(\.name)
        for name in old { try attic.remove(name) }
        if !old.isEmpty { try attic.sync() }
        return old
    }

    /// Whether there is anything under a name; what cannot be seen is taken for something.
    func isThere(_ name: String) -> Bool {
        var status = stat()
        return calls.asking { fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) }.errno != ENOENT
    }

    private func status(ofName name: String) -> stat? {
        var status = stat()
        return calls.asking { fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) }.errno == 0 ? status : nil
    }
}

// Nothing of an identity is deleted but by a purge that was asked for (decision: attic).
extension DeviceIdentity {
    /// The files of this identity that are not in use any more, by their names in the folder `attic` of the state:
    /// keys, records and certificates.
    public func attic() async throws(TenonError) -> [String] {
        let prefix = context.name.prefix
        return try await context.onDisk { store throws(TenonError) in
            try store.folder.attic().names().filter { $0.hasPrefix(prefix) }.sorted()
        }
    }

    /// Deletes those of them that are both older than 90 days and not among the newest 16. A key that is deleted never
    /// signs again, whatever TPM comes back.
    ///
    /// - Returns: what was deleted.
    @discardableResult
    public func purge() async throws(TenonError) -> [String] {
        let (prefix, now) = (context.name.prefix, Int(context.clock.moment().seconds))
        return try await alone(.purge) { [context] held throws(TenonError) in
            try await context.onDisk { store throws(TenonError) in
                try store.check(held)
                return try store.folder.purgeAttic(of: prefix, now: now)
            }
        }
    }
}
