// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import Tenon

/// Whether the state folder has room: the audit log is there, and where nothing is shared the database. Both may have
/// room of their own for a while when the disk has none, so that what they can write says too little.
package final class FolderLook: WatchedStore {
    package let watchedName = "folder"

    /// More than a registration writes.
    private static let room: off_t = 65_536
    private static let fileName = "look"

    /// Has no name: it is gone with the process.
    private let file: Int32
    private let thread = WorkThread()

    /// - Throws: ``TenonError/Code/storePermission`` when no file can be made there.
    package init(in folder: AuthorityFolder) throws(TenonError) {
        file = try folder.open(FolderLook.fileName)
        unlink("\(folder.path)/\(FolderLook.fileName)")
    }

    deinit { close(file) }

    /// Takes room, and gives it back.
    package func look() async throws(TenonError) -> Int64? {
        try await thread.run { [file] () throws(TenonError) in
            let error = posix_fallocate(file, 0, FolderLook.room)
            ftruncate(file, 0)
            guard error == 0 else {
                throw TenonError(
                    .storeFull,
                    message:
                        "The disk of the state folder takes no more (\(String(cString: strerror(error)))): make room.")
            }
        }
        return nil
    }
}
