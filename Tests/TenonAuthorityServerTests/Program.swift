// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import Testing

/// The command, as a person runs it; its output is read while it runs.
final class Program: Sendable {
    private let process: pid_t
    private let output: Int32
    private let hasEnded = Mutex(false)

    /// - Parameter words: the words after `tenon-authority`.
    convenience init(_ words: [String]) throws {
        let bundle = try #require(CommandLine.arguments.first { $0.hasSuffix(".xctest") })
        try self.init(
            at: bundle.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/tenon-authority", words)
    }

    init(at path: String, _ words: [String]) throws {
        (process, output) = try Program.oneByOne.withLock { _ in try Program.start(path, words) }
    }

    /// Otherwise another child could inherit a pipe's end before it is marked close-on-exec, and keep it open.
    private static let oneByOne = Mutex(())

    private static func start(_ path: String, _ words: [String]) throws -> (pid_t, Int32) {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
        let all = ([path] + words).map { strdup($0) } + [nil]
        defer { for word in all { free(word) } }
        var child = pid_t()
        try #require(posix_spawn(&child, path, &actions, nil, all, environ) == 0)
        close(ends[1])
        return (child, ends[0])
    }

    /// A test that fails halfway leaves nothing running, and no zombie: beside one, a run of the tests never ends.
    deinit {
        close(output)
        guard !hasEnded.withLock({ $0 }) else { return }
        kill(process, SIGKILL)
        while waitpid(process, nil, 0) < 0 && errno == EINTR {}
    }

    /// Runs it to its end.
    static func run(_ words: String...) async throws -> (code: Int32, output: String) {
        try await Program(words).ended()
    }

    /// The next line of its output; nil after the last.
    func line() async -> String? {
        await onThread { [output] in
            var line: [UInt8] = []
            var byte: UInt8 = 0
            while read(output, &byte, 1) == 1 {
                if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
                line.append(byte)
            }
            return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
        }
    }

    func signal(_ number: Int32) { kill(process, number) }

    /// Ends it by a signal, and returns the rest of its output.
    @discardableResult func stop(_ number: Int32 = SIGTERM) async throws -> String {
        signal(number)
        let ended = try await ended()
        #expect(ended.code == 0, "\(ended.output)")
        return ended.output
    }

    /// Its exit status (128 plus the number of a signal that ended it) and the rest of its output.
    func ended() async throws -> (code: Int32, output: String) {
        var text = ""
        while let line = await line() { text += line + "\n" }
        let status = await onThread { [process] in
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0 && errno == EINTR {}
            return status
        }
        hasEnded.withLock { $0 = true }
        return (status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f, text)
    }
}
