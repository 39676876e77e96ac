// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import TenonAuthorityServer

/// A client that sends exact bytes, on a thread of its own, because the server's answers run on the cooperative pool.
final class RawClient: Sendable {
    private let socket: Int32

    /// - Parameter source: the number of an address of this machine, 127.0.0.N.
    init(port: Int, from source: UInt8? = nil) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if let source {
            var own = sockaddr_in()
            own.sin_family = sa_family_t(AF_INET)
            own.sin_addr.s_addr = (UInt32(0x7f00_0000) | UInt32(source)).bigEndian
            let bound = withUnsafePointer(to: &own) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            try #require(bound == 0)
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(connected == 0)
    }

    deinit { Glibc.close(socket) }

    /// Ends the connection; later calls fail.
    func close() { shutdown(socket, Int32(SHUT_RDWR)) }

    /// Sends, and returns all bytes until the server ends the connection.
    func talk(_ bytes: [UInt8]) async -> [UInt8] {
        send(bytes)
        return await onThread { [socket] in
            var answer: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while case let count = recv(socket, &buffer, buffer.count, 0), count > 0 { answer += buffer[..<count] }
            return answer
        }
    }

    func talk(_ text: String) async -> String { String(decoding: await talk(Array(text.utf8)), as: UTF8.self) }

    func send(_ text: String) { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// Whether the peer has not closed the connection and nothing has arrived.
    var isOpen: Bool {
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_DONTWAIT)) < 0 && errno == EAGAIN
    }

    /// The next byte, or nil at the end.
    func readByte() async -> UInt8? {
        await onThread { [socket] in
            var byte: UInt8 = 0
            return recv(socket, &byte, 1, 0) == 1 ? byte : nil
        }
    }

    /// An answer with its body.
    func readAnswer() async -> String {
        await onThread { [socket] in
            var answer: [UInt8] = []
            var byte: UInt8 = 0
            while !answer.hasSuffix("\r\n\r\n"), recv(socket, &byte, 1, 0) == 1 { answer.append(byte) }
            let head = String(decoding: answer, as: UTF8.self).lowercased()
            let length = head.split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
            let count = length.flatMap { Int($0.dropFirst(16)) } ?? 0
            while answer.count < head.utf8.count + count, recv(socket, &byte, 1, 0) == 1 { answer.append(byte) }
            return String(decoding: answer, as: UTF8.self)
        }
    }
}

extension [UInt8] {
    fileprivate func hasSuffix(_ text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}

/// The status of each answer.
func statuses(_ answers: String) -> [Int] {
    answers.split(separator: "HTTP/1.1 ").compactMap { Int($0.prefix(3)) }
}

/// Runs a blocking body on a thread.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        startThread { continuation.resume(returning: body()) }
    }
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private func startThread(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let error = pthread_create(
        &thread, nil,
        { body in
            body.map { Unmanaged<ThreadBody>.fromOpaque($0).takeRetainedValue().run() }
            return nil
        }, Unmanaged.passRetained(ThreadBody(body)).toOpaque())
    precondition(error == 0)
    pthread_detach(thread)
}
