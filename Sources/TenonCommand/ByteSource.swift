// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon

/// Bytes that the user names, piece by piece: `@FILE`, `@-` for the standard input, or the text itself.
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
        // A pipe that nobody has opened yet is waited for in `next()`, which can be interrupted.
        file = isOwned ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : 0
        guard file >= 0 else { throw Self.unreadable(path, String(cString: strerror(errno))) }
    }

    deinit {
        if isOwned { close(file) }
    }

    /// nil at the end.
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

    /// Until there is something to read, or the work is to end.
    private func wait() throws(TenonError) {
        var files = [
            pollfd(fd: file, events: Int16(POLLIN), revents: 0),
            pollfd(fd: Interrupt.pipe.read, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&files, 2, -1) < 0, errno == EINTR {}
        if files[1].revents != 0 { throw .cancelled }
    }

    static func unreadable(_ path: String, _ why: String) -> TenonError {
        TenonError(.options, message: "\(path) cannot be read: \(why).\nName a file that this user may read.")
    }
}
