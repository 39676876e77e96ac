// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The result of reading a file. Only a file that is proven absent counts as absent (W9).
package enum Reading<Value> {
    case found(Value)
    case absent
    case unreadable(TenonError)
}

extension Reading: Sendable where Value: Sendable {}

extension Reading {
    func map<Other>(_ body: (Value) throws(TenonError) -> Other) -> Reading<Other> {
        switch self {
        case .absent: return .absent
        case .unreadable(let error): return .unreadable(error)
        case .found(let value):
            do throws(TenonError) { return .found(try body(value)) } catch { return .unreadable(error) }
        }
    }
}

/// By what a file that was written anew is known from the one before.
package struct FileStamp: Equatable, Sendable {
    private let device: UInt
    private let inode: UInt
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    init(_ status: stat) {
        device = status.st_dev
        inode = status.st_ino
        size = status.st_size
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}

package struct StoredFile: Sendable {
    package let bytes: [UInt8]
    package let stamp: FileStamp
}

extension StateFolder {
    /// Reads a file of ours. A link, a file of somebody else, one that others may use, and a longer one are unreadable.
    package func read(_ name: String, atMost limit: Int) -> Reading<StoredFile> {
        // Without O_NONBLOCK a pipe under this name would hold us.
        let opened = calls.asking { openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
        if opened.errno == ENOENT { return absence() }
        do throws(TenonError) {
            let file = Int32(try SystemCalls.value(of: opened, "open", name))
            defer { close(file) }
            let status = try Self.status(of: file, name)
            try check(status, name)
            guard status.st_size <= limit else { throw tooLong(name, limit) }
            let bytes = try readAll(file, name, limit)
            return .found(StoredFile(bytes: bytes, stamp: FileStamp(status)))
        } catch {
            return .unreadable(error)
        }
    }

    /// Identifies the content of a file without reading it.
    package func stamp(of name: String) -> Reading<FileStamp> {
        var status = stat()
        let answer = calls.asking { fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) }
        if answer.errno == ENOENT { return absence() }
        do throws(TenonError) {
            _ = try SystemCalls.value(of: answer, "stat", name)
            try check(status, name)
            return .found(FileStamp(status))
        } catch {
            return .unreadable(error)
        }
    }

    /// The names in the folder.
    package func names() throws(TenonError) -> [String] {
        let opened = calls.asking { openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        let copy = Int32(try SystemCalls.value(of: opened, "open", path))
        guard let folder = fdopendir(copy) else {
            let error = TenonError(errno: errno, "list", path)
            close(copy)
            throw error
        }
        defer { closedir(folder) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(folder) else { break }
            let name = Self.name(of: entry)
            if name != ".", name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw TenonError(errno: errno, "list", path) }
        return names
    }

    private static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
        withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// A folder that was removed under us has no file, which says nothing about the identity.
    private func absence<Value>() -> Reading<Value> {
        do throws(TenonError) {
            guard try Self.status(of: descriptor, path).st_nlink > 0 else {
                throw TenonError(.stateFolderGone, message: "The state folder was removed: \(path)")
            }
            return .absent
        } catch {
            return .unreadable(error)
        }
    }

    func check(_ status: stat, _ name: String) throws(TenonError) {
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw TenonError(.stateKind, message: "This must be a regular file, not a link: \(path)/\(name)")
        }
        guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw TenonError(
                .stateOwner, message: "This file must belong to this user, with mode 0600: \(path)/\(name)")
        }
    }

    private func readAll(_ file: Int32, _ name: String, _ limit: Int) throws(TenonError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let answer = calls.asking {
                buffer.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
            }
            let count = try SystemCalls.value(of: answer, "read", name)
            if count == 0 { return bytes }
            bytes.append(contentsOf: buffer.prefix(count))
            guard bytes.count <= limit else { throw tooLong(name, limit) }
        }
    }

    private func tooLong(_ name: String, _ limit: Int) -> TenonError {
        TenonError(.recordForm, message: "The file is longer than \(limit) bytes: \(path)/\(name)")
    }
}
