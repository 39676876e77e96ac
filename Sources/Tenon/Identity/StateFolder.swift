// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A folder that holds identities, opened once; everything in it is reached from there, and no link is followed.
///
/// Its functions block: they are for a thread that may wait. What changes a file is called by whoever holds the
/// identity's ``FileLock``.
package final class StateFolder: Sendable {
    let descriptor: Int32
    package let path: String
    let calls: SystemCalls

    /// Opens the folder, and makes it, and those it lies in, with mode 0700 when it is absent.
    ///
    /// - Throws: ``TenonError/Code/stateOwner`` when it belongs to somebody else or others may write to it,
    ///   ``TenonError/Code/stateKind`` for a link or what is no folder, or what the system says.
    package convenience init(at path: String, calls: SystemCalls = SystemCalls()) throws(TenonError) {
        let path = try Self.normal(path)
        var answer = Self.open(path, in: AT_FDCWD)
        if answer.errno == ENOENT {
            try Self.make(path, calls)
            answer = Self.open(path, in: AT_FDCWD)
        }
        try self.init(answer, path, calls)
    }

    /// Opens a folder within another, and makes it when it is absent.
    convenience init(_ name: String, in parent: StateFolder) throws(TenonError) {
        var answer = Self.open(name, in: parent.descriptor)
        if answer.errno == ENOENT {
            let made = parent.calls.attempt(.makeFolder, name) { mkdirat(parent.descriptor, name, 0o700) }
            // Another identity's process may be faster.
            if made.errno != EEXIST { _ = try SystemCalls.value(of: made, "mkdir", name) }
            try parent.sync()
            answer = Self.open(name, in: parent.descriptor)
        }
        try self.init(answer, parent.path + "/" + name, parent.calls)
    }

    private init(_ opened: SystemCalls.Answer, _ path: String, _ calls: SystemCalls) throws(TenonError) {
        descriptor = Int32(try SystemCalls.value(of: opened, "open", path))
        self.path = path
        self.calls = calls
        let status = try Self.status(of: descriptor, path)
        guard status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
            throw TenonError(
                .stateOwner,
                message: "The folder of the state must belong to its user, and nobody else may write to it: \(path)")
        }
    }

    deinit { close(descriptor) }

    /// Puts on disk which names the folder holds.
    package func sync() throws(TenonError) {
        try calls.perform(.syncFolder, path) { fsync(descriptor) }
    }

    static func status(of descriptor: Int32, _ name: String) throws(TenonError) -> stat {
        var status = stat()
        _ = try SystemCalls.value(of: SystemCalls.asking { fstat(descriptor, &status) }, "stat", name)
        return status
    }

    private static func open(_ path: String, in folder: Int32) -> SystemCalls.Answer {
        SystemCalls.asking { openat(folder, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
    }

    /// A path that ends in a slash is followed although it is a link.
    private static func normal(_ path: String) throws(TenonError) -> String {
        guard !path.isEmpty, path.utf8.count < PATH_MAX, !path.utf8.contains(0) else {
            throw TenonError(.statePath, message: "The folder of the state is not named as a path can be.")
        }
        var path = Substring(path)
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return String(path)
    }

    private static func make(_ path: String, _ calls: SystemCalls) throws(TenonError) {
        let parent = parent(of: path)
        var answer = calls.attempt(.makeFolder, path) { mkdir(path, 0o700) }
        if answer.errno == ENOENT, parent != path {
            try make(parent, calls)
            answer = calls.attempt(.makeFolder, path) { mkdir(path, 0o700) }
        }
        // Another process was faster.
        if answer.errno == EEXIST { return }
        _ = try SystemCalls.value(of: answer, "mkdir", path)
        try syncName(in: parent, calls)
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func syncName(in folder: String, _ calls: SystemCalls) throws(TenonError) {
        let opened = SystemCalls.asking { openat(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        let descriptor = Int32(try SystemCalls.value(of: opened, "open", folder))
        defer { close(descriptor) }
        try calls.perform(.syncFolder, folder) { fsync(descriptor) }
    }
}
