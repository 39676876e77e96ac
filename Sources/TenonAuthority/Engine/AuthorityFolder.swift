// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import Tenon

/// The folder that holds what one authority process keeps: opened once, ours alone, and locked as long as this value
/// lives (decision: state-folder).
package final class AuthorityFolder: Sendable {
    /// Without links, which SQLite would not follow.
    package let path: String
    private let folder: StateFolder
    private let lock: FileLock.Held

    /// Opens the folder and takes its lock; a missing folder is made, 0700. Blocks on the disk.
    ///
    /// - Throws: ``TenonError/Code/storePermission`` when it is a link, or others own or may write it;
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

    /// Opens a file of ours for reading and writing, and makes it, 0600, when it is missing.
    ///
    /// - Throws: ``TenonError/Code/storePermission`` if it is not a file, not ours, or not ours alone.
    func open(_ name: String, flags: Int32 = 0) throws(TenonError) -> Int32 {
        do throws(TenonError) {
            let file = try folder.open(name, flags: flags)
            // A new file is there after a power cut only when its folder was written.
            try? folder.sync()
            return file
        } catch {
            throw AuthorityFolder.refusal(error)
        }
    }

    /// Gives a file another name, which no file has, and says which.
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
