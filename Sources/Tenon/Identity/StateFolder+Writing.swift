// SPDX-License-Identifier: Apache-2.0
internal import Glibc

extension StateFolder {
    /// What the name of a file that is not yet whole ends in.
    static let unfinished = ".tmp"
    /// What the name of the file before this one ends in.
    package static let previous = ".prev"

    /// Writes a whole file in the place of the one that is there: who reads sees the one or the other. On return it is
    /// on disk. After an error the file is the one or the other too, and whoever wants to know reads it.
    ///
    /// - Parameter keepingPrevious: the file that was there gets the name `<name>.prev`.
    package func write(
        _ bytes: [UInt8], to name: String, keepingPrevious: Bool = false
    ) throws(TenonError) {
        let temporary = name + Self.unfinished
        // A process that was killed left it.
        try remove(temporary)
        do throws(TenonError) {
            try create(temporary, bytes)
            if keepingPrevious { try keepPrevious(name) }
            try rename(temporary, to: name)
        } catch {
            try? remove(temporary)
            throw error
        }
        try sync()
    }

    /// Removes what killed processes left of files whose names begin so.
    package func sweepUnfinished(of prefix: String) throws(TenonError) {
        for name in try names() where name.hasPrefix(prefix) && name.hasSuffix(Self.unfinished) {
            try remove(name)
        }
    }

    /// Gives a file another name, here or in another folder. The name must be free, but for a temporary file's.
    func rename(_ name: String, to other: String, in folder: StateFolder? = nil) throws(TenonError) {
        let target = (folder ?? self).descriptor
        try calls.perform(.rename, other) { renameat(descriptor, name, target, other) }
    }

    /// Removes a file, if it is there. Never a key: those go to the attic.
    func remove(_ name: String) throws(TenonError) {
        let answer = calls.attempt(.remove, name) { unlinkat(descriptor, name, 0) }
        guard answer.errno != ENOENT else { return }
        _ = try SystemCalls.value(of: answer, "remove", name)
    }

    private func create(_ name: String, _ bytes: [UInt8]) throws(TenonError) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = Int32(try calls.perform(.create, name) { openat(descriptor, name, flags, 0o600) })
        defer { close(file) }
        try calls.write(bytes, to: file, name)
        try calls.perform(.sync, name) { fsync(file) }
    }

    /// By a second name of the same file, so that there is no moment without one.
    private func keepPrevious(_ name: String) throws(TenonError) {
        let temporary = name + Self.previous + Self.unfinished
        try remove(temporary)
        let answer = calls.attempt(.link, name) { linkat(descriptor, name, descriptor, temporary, 0) }
        guard answer.errno != ENOENT else { return }
        _ = try SystemCalls.value(of: answer, "link", name)
        try rename(temporary, to: name + Self.previous)
        // Between two names of one file a rename does nothing, and such a pair a killed process may have left.
        try remove(temporary)
    }
}
