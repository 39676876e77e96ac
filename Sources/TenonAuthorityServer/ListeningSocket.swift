// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon

/// A listening socket, which is closed with this value.
final class ListeningSocket: Sendable {
    let descriptor: Int32
    /// The port of a TCP socket, even if the kernel chose it; 0 for a unix socket.
    let port: Int
    /// The path of a unix socket, whose file is removed with it.
    private let path: String?

    private static let backlog: Int32 = 512

    /// - Throws: ``TenonError/Code/listenerFailed``.
    init(address: String, port: Int) throws(TenonError) {
        let name = "\(address) port \(port)"
        var info: UnsafeMutablePointer<addrinfo>?
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        guard getaddrinfo(address, String(port), &hints, &info) == 0, let info else {
            throw ListeningSocket.refusal(name, EINVAL)
        }
        defer { freeaddrinfo(info) }
        descriptor = socket(info.pointee.ai_family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard descriptor >= 0, bind(descriptor, info.pointee.ai_addr, info.pointee.ai_addrlen) == 0,
            listen(descriptor, ListeningSocket.backlog) == 0
        else {
            let cause = errno
            close(descriptor)
            throw ListeningSocket.refusal(name, cause)
        }
        self.port = ListeningSocket.port(of: descriptor)
        path = nil
    }

    /// - Parameter mode: the mode of the file, which decides who may connect; the file has it from the first moment.
    /// - Throws: ``TenonError/Code/listenerFailed``.
    init(path: String, mode: mode_t) throws(TenonError) {
        descriptor = try ListeningSocket.listening(path, mode)
        port = 0
        self.path = path
    }

    deinit {
        if let path { unlink(path) }
        close(descriptor)
    }

    private static func listening(_ path: String, _ mode: mode_t) throws(TenonError) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { throw refusal(path, ENAMETOOLONG) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        removeStale(path, address)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        fchmod(descriptor, mode)
        guard descriptor >= 0, call(bind, descriptor, address) == 0, listen(descriptor, backlog) == 0 else {
            let cause = errno
            close(descriptor)
            throw refusal(path, cause)
        }
        return descriptor
    }

    /// Removes a socket that nobody listens to, which a killed process left. Anything else stays.
    private static func removeStale(_ path: String, _ address: sockaddr_un) {
        var facts = stat()
        guard lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFSOCK else { return }
        let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(probe) }
        if call(connect, probe, address) != 0 && errno == ECONNREFUSED { unlink(path) }
    }

    private static func call(
        _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ socket: Int32, _ address: sockaddr_un
    ) -> Int32 {
        withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                function(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private static func port(of socket: Int32) -> Int {
        var address = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        // The port has the same offset in both address families.
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
        }
        return Int(UInt16(bigEndian: address.sin6_port))
    }

    private static func refusal(_ name: String, _ cause: Int32) -> TenonError {
        let reason = strerror(cause).map { String(cString: $0) } ?? "error \(cause)"
        return TenonError(.listenerFailed, message: "The listener \(name) cannot be opened: \(reason). Choose another.")
    }
}
