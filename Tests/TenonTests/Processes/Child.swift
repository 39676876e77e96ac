// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Glibc
import Synchronization
import Testing

/// A process of `StateChild`, which lies beside the tests.
final class Child: Sendable {
    private let process: pid_t
    private let socket: Int32
    private let received = Mutex<[UInt8]>([])
    private let hasEnded = Mutex(false)

    convenience init(_ arguments: String...) throws { try self.init(arguments) }

    init(_ arguments: [String]) throws {
        let program = try Self.folderOfTests() + "/StateChild"
        // Both ends close on exec: otherwise one child would hold another's input open.
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        var process: pid_t = 0
        let error = posix_spawn(&process, program, &actions, nil, &words, environ)
        posix_spawn_file_actions_destroy(&actions)
        for word in words { free(word) }
        close(ends[1])
        try #require(error == 0, "\(program): errno \(error)")
        (self.process, socket) = (process, ends[0])
        // A child that says nothing for so long is stuck: two minutes are twice as long as a device waits for a lock.
        var limit = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// A test that fails halfway leaves nothing running, and no zombie: beside one, a run of the tests never ends.
    deinit {
        close(socket)
        guard !hasEnded.withLock({ $0 }) else { return }
        kill()
        _ = wait()
    }

    private static func folderOfTests() throws -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = buffer.withUnsafeMutableBytes {
            readlink("/proc/self/exe", $0.assumingMemoryBound(to: CChar.self).baseAddress!, $0.count)
        }
        try #require(count > 0)
        let program = String(decoding: buffer.prefix(count), as: UTF8.self)
        return String(program[..<(program.lastIndex(of: "/") ?? program.startIndex)])
    }

    /// Waits for the next line that the child prints; nil when its output ends.
    func line() -> String? {
        received.withLock { received in
            while true {
                if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                    defer { received.removeFirst(end + 1) }
                    return String(decoding: received[..<end], as: UTF8.self)
                }
                var buffer = [UInt8](repeating: 0, count: 4096)
                let count = read(socket, &buffer, buffer.count)
                guard count > 0 else { return nil }
                received += buffer.prefix(count)
            }
        }
    }

    /// Sends a device a command, and serves as its service meanwhile.
    ///
    /// - Returns: the result; nil if the device died.
    func perform(_ command: String, at service: some FatedService) -> String? {
        perform(command) { ServiceLine.answer(to: $0, by: service) }
    }

    /// - Parameter answer: the service's answer to a line; nil if the line is not for it.
    func perform(_ command: String, _ answer: (String) -> String?) -> String? {
        say(command)
        while let line = line() {
            guard let answer = answer(line) else { return String(line.dropFirst(5)) }
            say(answer)
        }
        return nil
    }

    // The child may be dead.
    func say(_ line: String) { _ = send(socket, line + "\n", line.utf8.count + 1, Int32(MSG_NOSIGNAL)) }

    /// Closes the input, which ends a device.
    func end() { shutdown(socket, Int32(SHUT_WR)) }

    func kill() { _ = Glibc.kill(process, SIGKILL) }

    /// Waits until the child ends: its exit status, or the signal with a minus before it.
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        hasEnded.withLock { $0 = true }
        return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
    }
}
