// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonHTTP

/// Where an instance is: `http://ADDRESS:PORT`. A load comes from the same machine, or by a proxy on it.
struct Instance: Sendable {
    let url: String
    let host: String
    let port: UInt16

    /// - Throws: ``TenonError/Code/options``.
    init(_ url: String) throws(TenonError) {
        let parts = url.split(separator: "/", omittingEmptySubsequences: false)
        let ends = parts.last?.split(separator: ":").map(String.init) ?? []
        guard parts.count == 3, parts[0] == "http:", parts[1].isEmpty, ends.count == 2, let port = UInt16(ends[1])
        else {
            throw TenonError(.options, message: "\(url) is not http://ADDRESS:PORT.")
        }
        (self.url, host, self.port) = (url, ends[0], port)
    }
}

/// One connection that is kept, with one request on it at a time. It blocks.
final class Connection {
    struct Answer {
        let status: Int
        let body: [UInt8]
    }

    private let descriptor: Int32
    private var bytes = [UInt8](repeating: 0, count: 1 << 17)
    private var count = 0

    /// - Throws: ``TenonError/Code/httpConnect``.
    init(_ instance: Instance) throws(TenonError) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = instance.port.bigEndian
        let isAddress = inet_pton(AF_INET, instance.host, &address.sin_addr) == 1
        var (yes, patience) = (Int32(1), timeval(tv_sec: 30, tv_usec: 0))
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let isConnected =
            isAddress
            && withUnsafePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
        guard isConnected else {
            close(descriptor)
            throw TenonError(.httpConnect, message: "Nobody answers at \(instance.url).")
        }
    }

    deinit { close(descriptor) }

    func exchange(_ request: [UInt8]) throws(TenonError) -> Answer {
        try send(request)
        return try receive()
    }

    func send(_ request: [UInt8]) throws(TenonError) {
        var rest = request[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { throw Connection.cut }
            rest = rest.dropFirst(sent)
        }
    }

    func receive() throws(TenonError) -> Answer {
        while endOfHead == nil { try read() }
        let end = endOfHead ?? 0
        let head = String(decoding: bytes[..<end], as: UTF8.self).lowercased().split(separator: "\r\n")
        let said = head.first { $0.hasPrefix("content-length:") }.flatMap { Int($0.dropFirst(15).drop { $0 == " " }) }
        let status = head[0].split(separator: " ").dropFirst().first.flatMap { Int($0) }
        // 204 has no content (RFC 9110, 8.6).
        guard let status, let length = status == 204 ? 0 : said, end + length <= bytes.count else {
            throw TenonError(.httpMalformed, message: "An instance answers in another form.")
        }
        while count < end + length { try read() }
        // One request at a time: nothing stands behind its answer.
        guard count == end + length else {
            throw TenonError(.httpMalformed, message: "An instance answers more than it was asked.")
        }
        count = 0
        return Answer(status: status, body: Array(bytes[end..<end + length]))
    }

    private static let cut = TenonError(.httpNoAnswer, message: "An instance ended the connection.")

    private func read() throws(TenonError) {
        let read = bytes.withUnsafeMutableBytes { bytes in
            recv(descriptor, bytes.baseAddress.map { $0 + count }, bytes.count - count, 0)
        }
        guard read > 0 else { throw Connection.cut }
        count += read
    }

    private var endOfHead: Int? {
        (3..<max(3, count)).first { bytes[$0] == 10 && bytes[$0 - 2] == 10 && bytes[$0 - 1] == 13 }.map { $0 + 1 }
    }
}

extension Connection.Answer {
    /// The status and, of a refusal, the code.
    var verdict: String {
        guard status != 200, let code = (try? JSON(parsing: body))?["error_code"]?.string else { return "\(status)" }
        return "\(status) \(code)"
    }
}
