// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import Tenon

/// The folder with the files of one authority process. It belongs to our user alone, is opened once, and is locked as
/// long as this value lives (decision: state-folder).
package final class AuthorityFolder: Sendable {
    /// The path without symbolic links, which SQLite would not follow.
    package let path: String
    private let folder: StateFolder
    private let lock: FileLock.Held

    /// Opens the folder and takes its lock. Makes a missing folder with mode 0700. Blocks on the disk.
    ///
    /// - Throws: ``TenonError/Code/storePermission`` when it is a link, or another user owns it or may write to it;
    ///   ``TenonError/Code/storeInUse`` when another process, or this one, has it.
    package init(_ path: String) throws(TenonError) {
        let held: FileLock.Held?
        do throws(TenonError) {
            folder = try StateFolder(at: path)
            self.path = try folder.pathWithoutLinks()
            held = try FileLock("authority.lock", in: folder).attempt()
        } catch {
            throw AuthorityFolder.refusal(error)
        }
        guard let held else {
            throw TenonError(
                .storeInUse, message: "Another process has \(path) open. Stop it, or give this one its own folder."
            )
        }
        lock = held
    }

    /// Opens a file in the folder for reading and writing. Makes a missing file with mode 0600.
    ///
    /// - Throws: ``TenonError/Code/storePermission`` if it is not a file, belongs to another user, or is open to
    ///   others.
    func open(_ name: String, flags: Int32 = 0) throws(TenonError) -> Int32 {
        do throws(TenonError) {
            let file = try folder.open(name, flags: flags)
            // After a power cut, a new file is there only if its folder was synced.
            try? folder.sync()
            return file
        } catch {
            throw AuthorityFolder.refusal(error)
        }
    }

    /// Renames a file to an unused name, and returns that name.
    func moveAway(_ name: String) throws(TenonError) -> String {
        var number = 1
        while access("\(path)/\(name).\(number)", F_OK) == 0 { number += 1 }
        let other = "\(name).\(number)"
        guard rename("\(path)/\(name)", "\(path)/\(other)") == 0 else {
            throw TenonError(.storePermission, message: "\(name) cannot be renamed in \(path).")
        }
        try? folder.sync()
        return other
    }

    private static func refusal(_ error: TenonError) -> TenonError {
        TenonError(
            .storePermission,
            message: "\(error.message) Give the authority a folder and files that belong to its user.")
    }
}
