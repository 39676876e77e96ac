// SPDX-License-Identifier: Apache-2.0
internal import Glibc

extension StateFolder {
    /// Opens a file of ours for reading and writing, and makes it, 0600, when it is absent. A link, a file of somebody
    /// else, and one that others may use are refused. Whoever calls closes it.
    package func open(_ name: String, flags: Int32 = 0) throws(TenonError) -> Int32 {
        // Without O_NONBLOCK a pipe under this name would hold us.
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags
        let file = Int32(try calls.perform(.create, name) { openat(descriptor, name, flags, 0o600) })
        do throws(TenonError) {
            try check(try Self.status(of: file, name), name)
            return file
        } catch {
            close(file)
            throw error
        }
    }

    /// The folder's path without links, for who does not follow them.
    package func pathWithoutLinks() throws(TenonError) -> String {
        guard let found = realpath("/proc/self/fd/\(descriptor)", nil) else {
            throw TenonError(errno: errno, "realpath", path)
        }
        defer { free(found) }
        return String(cString: found)
    }
}
