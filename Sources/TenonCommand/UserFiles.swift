// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon

/// Bytes that the user gives, read piece by piece: `@FILE`, `@-` for the standard input, or the text itself.
struct ByteSource: ~Copyable {
    private let name: String
    private let file: Int32
    private let isOwned: Bool
    private var text: [UInt8]?

    /// - Throws: ``TenonError/Code/options`` for a file that cannot be read.
    init(_ argument: String) throws(TenonError) {
        if argument.hasPrefix("@") {
            try self.init(path: String(argument.dropFirst()))
        } else {
            self.init(text: Array(argument.utf8))
        }
    }

    private init(text: [UInt8]) {
        (name, file, isOwned) = ("", -1, false)
        self.text = text
    }

    /// - Parameter path: `-` is the standard input.
    init(path: String) throws(TenonError) {
        isOwned = path != "-"
        name = path
        // O_NONBLOCK: `next()` waits for the writer of a pipe, and can be interrupted.
        file = isOwned ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : 0
        guard file >= 0 else { throw Self.unreadable(path, String(cString: strerror(errno))) }
    }

    deinit {
        if isOwned { close(file) }
    }

    /// The next piece; nil at the end.
    mutating func next() throws(TenonError) -> [UInt8]? {
        if file < 0 {
            defer { text = nil }
            return text
        }
        try wait()
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(file, &bytes, bytes.count)
        if count < 0, errno == EINTR || errno == EAGAIN { return [] }
        guard count >= 0 else { throw Self.unreadable(name, String(cString: strerror(errno))) }
        return count == 0 ? nil : Array(bytes.prefix(count))
    }

    /// Whether there is something to read now; also at the end.
    var isReady: Bool {
        var files = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
        return file < 0 || poll(&files, 1, 0) > 0
    }

    /// Waits until there is something to read, or until the program is interrupted.
    private func wait() throws(TenonError) {
        var files = [
            pollfd(fd: file, events: Int16(POLLIN), revents: 0),
            pollfd(fd: Interrupt.pipe.read, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&files, 2, -1) < 0, errno == EINTR {}
        if files[1].revents != 0 { throw .cancelled }
    }

    static func unreadable(_ path: String, _ why: String) -> TenonError {
        TenonError(.options, message: "\(path) cannot be read: \(why).", mend: "Give a file that this user can read.")
    }
}

/// A file for results that the user names. It is written whole or not at all, and never replaces a file.
struct ResultFile {
    private let path: String

    /// - Throws: ``TenonError/Code/options`` when the file cannot be made, so that the user learns it at once.
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
        try write(bytes)
    }

    func write(_ bytes: [UInt8]) throws(TenonError) {
        let temporary = "\(path).\(getpid()).tmp"
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw Self.unwritable(path) }
        defer { unlink(temporary) }
        let isWritten = Self.write(bytes, to: file)
        guard close(file) == 0, isWritten else { throw Self.unwritable(path) }
        // Unlike a rename, a link does not replace a file.
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
        TenonError(.options, message: "\(path) already exists.", mend: "Give another file, or remove it.")
    }

    private static func unwritable(_ path: String) -> TenonError {
        let why = String(cString: strerror(errno))
        return TenonError(
            .options, message: "\(path) cannot be written: \(why).",
            mend: "Give a file in a folder that this user can write.")
    }
}

/// Reads small files that the user names.
enum SmallFile {
    /// - Throws: ``TenonError/Code/options`` when the file cannot be read.
    static func read(_ path: String, atMost limit: Int = 1 << 20) throws(TenonError) -> [UInt8] {
        var source = try ByteSource(path: path)
        var bytes: [UInt8] = []
        while let chunk = try source.next() {
            bytes += chunk
            guard bytes.count <= limit else { throw ByteSource.unreadable(path, "it is longer than \(limit) bytes") }
        }
        return bytes
    }

    static func certificates(_ path: String) throws(TenonError) -> [[UInt8]] {
        let chain = try CertificateFile.decode(read(path))
        guard !chain.isEmpty else { throw ByteSource.unreadable(path, "it has no certificate in PEM") }
        return chain
    }
}
