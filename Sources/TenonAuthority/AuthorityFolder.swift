// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import Tenon

/// The folder that holds what one authority process keeps: opened once, ours alone, and locked as long as this value
/// lives (security.md D6).
package final class AuthorityFolder: Sendable {
    /// Without links, which SQLite would not follow.
    package let path: String
    private let folder: Int32
    private let lock: Int32

    /// F_OFD_SETLK, which Swift does not see (build.md 18).
    private static let setLock: Int32 = 37

    /// Opens the folder and takes its lock; a missing folder is made, 0700. Blocks on the disk.
    ///
    /// - Throws: ``TenonError/Code/storePermission`` when it is a link, or others own or may write it;
    ///   ``TenonError/Code/storeInUse`` when another process, or this one, has it.
    package init(_ path: String) throws(TenonError) {
        mkdir(path, 0o700)
        folder = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else { throw AuthorityFolder.refusal("\(path) cannot be opened as a folder") }
        do throws(TenonError) {
            try AuthorityFolder.check(folder, type: S_IFDIR, forbidden: 0o022, "\(path)")
            self.path = try AuthorityFolder.path(of: folder)
            lock = try AuthorityFolder.open("authority.lock", in: folder, flags: 0)
        } catch {
            Glibc.close(folder)
            throw error
        }
        var whole = flock()
        whole.l_type = Int16(F_WRLCK)
        guard fcntl(lock, AuthorityFolder.setLock, &whole) == 0 else {
            Glibc.close(lock)
            Glibc.close(folder)
            throw TenonError(
                .storeInUse, message: "Another process has \(path) open: stop it, or give this one a folder of its own."
            )
        }
    }

    deinit {
        Glibc.close(lock)
        Glibc.close(folder)
    }

    /// Opens a file of ours for reading and writing, and makes it, 0600, when it is missing.
    ///
    /// - Throws: ``TenonError/Code/storePermission`` when it is no file, or not ours, or not ours alone.
    func open(_ name: String, flags: Int32 = 0) throws(TenonError) -> Int32 {
        try AuthorityFolder.open(name, in: folder, flags: flags)
    }

    private static func open(_ name: String, in folder: Int32, flags: Int32) throws(TenonError) -> Int32 {
        let file = openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags, 0o600)
        guard file >= 0 else { throw refusal("\(name) cannot be opened") }
        do throws(TenonError) {
            try check(file, type: S_IFREG, forbidden: 0o077, name)
        } catch {
            Glibc.close(file)
            throw error
        }
        // A new file is there after a power cut only when its folder was written.
        fsync(folder)
        return file
    }

    private static func path(of folder: Int32) throws(TenonError) -> String {
        guard let found = realpath("/proc/self/fd/\(folder)", nil) else { throw refusal("/proc cannot be read") }
        defer { free(found) }
        return String(cString: found)
    }

    private static func check(
        _ file: Int32, type: mode_t, forbidden: mode_t, _ name: String
    ) throws(TenonError) {
        var facts = stat()
        guard fstat(file, &facts) == 0, facts.st_mode & S_IFMT == type, facts.st_uid == geteuid(),
            facts.st_mode & forbidden == 0
        else { throw refusal("\(name) is not this user's alone") }
    }

    private static func refusal(_ what: String) -> TenonError {
        TenonError(.storePermission, message: "\(what): give the authority a folder and files of its own user.")
    }
}
