// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TestFolders
import Testing

/// OpenSSL's TLS server, which answers each GET with a page about the connection, and its CA.
final class TLSServer: Sendable {
    let port: UInt16
    let caFile: String
    /// The SHA-256 of the server's SubjectPublicKeyInfo.
    let pin: Digest
    private let process: pid_t
    private let output: Int32

    /// - Parameter arguments: more arguments of `openssl s_server`.
    init(in folder: String, host: String, valid: (from: String, to: String), _ arguments: [String]) throws {
        let script =
            "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Tests/Scripts/tls_server.sh"
        try #require(run("/bin/sh", script, folder, host, valid.from, valid.to) == 0)
        caFile = folder + "/ca.pem"
        let info = try contents(folder + "/server.spki")
        pin = try Digest(hashing: info.span)
        let words =
            [
                "s_server", "-accept", "127.0.0.1:0", "-cert", folder + "/server.pem", "-key", folder + "/server.key",
                "-www",
            ]
            + arguments
        (process, output) = try startReading("/usr/bin/openssl", words)
        port = try listeningPort(output)
    }

    var url: String { "https://localhost:\(port)/" }

    func stop() {
        kill(process, SIGKILL)
        while waitpid(process, nil, 0) < 0 && errno == EINTR {}
        close(output)
    }
}

func withTLSServer(
    host: String = "localhost", valid: (from: String, to: String) = ("20200101000000Z", "21000101000000Z"),
    _ arguments: String..., body: (TLSServer) async throws -> Void
) async throws {
    try await withFolder { folder in
        let server = try TLSServer(in: folder, host: host, valid: valid, arguments)
        defer { server.stop() }
        try await body(server)
    }
}

private func contents(_ path: String) throws -> [UInt8] {
    let file = try #require(fopen(path, "re"))
    defer { fclose(file) }
    return [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
        count = fread(buffer.baseAddress, 1, buffer.count, file)
    }
}

private func startReading(_ program: String, _ arguments: [String]) throws -> (pid_t, Int32) {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[1]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    var child = pid_t()
    let words = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    try #require(posix_spawn(&child, program, &actions, nil, words, environ) == 0)
    return (child, ends[0])
}

/// Reads up to the line `ACCEPT 127.0.0.1:port`, which means that the server is ready.
private func listeningPort(_ output: Int32) throws -> UInt16 {
    var line = ""
    while !line.hasPrefix("ACCEPT ") {
        line = ""
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1, byte != UInt8(ascii: "\n") {
            line.unicodeScalars.append(Unicode.Scalar(byte))
        }
        try #require(!line.isEmpty)
    }
    return try #require(line.split(separator: ":").last.flatMap { UInt16($0) })
}
