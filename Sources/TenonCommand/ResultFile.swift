// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon

/// A file of JSON lines that the user names: whole, or not at all, and never in the place of another.
struct ResultFile {
    private let path: String

    /// - Throws: ``TenonError/Code/options`` when it cannot be made, so that nobody finds out after a minute.
    init(_ path: String) throws(TenonError) {
        self.path = path
        var found = stat()
        guard lstat(path, &found) != 0 else { throw Self.taken(path) }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard errno == ENOENT, access(folder, W_OK | X_OK) == 0 else { throw Self.unwritable(path) }
    }

    func write(_ records: [JSON]) throws(TenonError) {
        var bytes: [UInt8] = []
        for record in records { bytes += try record.encoded() + [UInt8(ascii: "\n")] }
        let temporary = "\(path).\(getpid()).tmp"
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw Self.unwritable(path) }
        defer { unlink(temporary) }
        let isWritten = Self.write(bytes, to: file)
        guard close(file) == 0, isWritten else { throw Self.unwritable(path) }
        // Unlike a rename, a link takes nobody's place.
        guard link(temporary, path) == 0 else {
            throw errno == EEXIST ? Self.taken(path) : Self.unwritable(path)
        }
    }

    private static func write(_ bytes: [UInt8], to file: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return fsync(file) == 0
    }

    private static func taken(_ path: String) -> TenonError {
        TenonError(.options, message: "\(path) is there already.\nName another file, or remove it.")
    }

    private static func unwritable(_ path: String) -> TenonError {
        let why = String(cString: strerror(errno))
        return TenonError(
            .options, message: "\(path) cannot be written: \(why).\nName a file in a folder that this user may write.")
    }
}
