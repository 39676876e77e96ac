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
                message: "The state folder must belong to this user, and nobody else may write to it: \(path)")
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
            throw TenonError(.statePath, message: "The path of the state folder is not valid.")
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

extension StateFolder {
    /// Opens a file of ours for reading and writing, and makes it, 0600, when it is absent. A link, a file of somebody
    /// else, and one that others may use are refused. The caller closes it.
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

extension StateFolder {
    /// The suffix of the name of a file that is not complete yet.
    static let unfinished = ".tmp"
    /// The suffix of the name of the previous file.
    package static let previous = ".prev"

    /// Replaces a whole file: a reader sees the old file or the new one. On return the new one is on disk. After an
    /// error the file is either of them; read it to know which.
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

extension StateFolder {
    /// Where the state lies, in the order of trust: what was asked for, the environment, and the place of this user.
    /// Reads nothing: the command asks its environment (with `secure_getenv`), a library is told.
    ///
    /// - Parameter asked: `--state-dir`, or what an app configured.
    /// - Parameter environment: gives the value of a variable. An empty one counts as absent, and so does one of XDG
    ///   that is not absolute (XDG Base Directory 0.8, "Environment variables").
    /// - Throws: ``TenonError/Code/statePath`` for a path that is named and empty, and when nothing names one.
    package static func path(
        asked: String?, isRoot: Bool, environment: (String) -> String?
    ) throws(TenonError) -> String {
        if let asked {
            guard !asked.isEmpty else {
                throw TenonError(.statePath, message: "--state-dir must not be empty.")
            }
            return asked
        }
        func variable(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }
        func absolute(_ name: String) -> String? { variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil } }

        if let path = variable("TENON_STATE_DIR") { return path }
        // systemd gives all of a unit's folders; the first is the right one.
        if let paths = absolute("STATE_DIRECTORY") { return String(paths.prefix { $0 != ":" }) }
        if let path = absolute("XDG_STATE_HOME") { return path + "/tenon" }
        if isRoot { return "/var/lib/tenon" }
        if let path = absolute("HOME") { return path + "/.local/state/tenon" }
        throw TenonError(
            .statePath, message: "No state folder is configured. Give --state-dir or TENON_STATE_DIR.")
    }
}
