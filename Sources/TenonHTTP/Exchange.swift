// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tenon

/// One exchange whose request was checked: what libcurl is given, and whether the caller still waits.
final class Exchange: Sendable {
    let method: String
    let url: String
    let isPlain: Bool
    /// `Name: value`, or `Name:` for a header that libcurl must not add.
    let headers: [String]
    let body: [UInt8]
    /// nil for a server on this machine.
    let proxy: String?
    let options: HTTPTransport.Options
    let deadline: ContinuousClock.Instant
    private let cancelled = Atomic(false)

    init(
        _ request: HTTPRequest, _ options: HTTPTransport.Options, deadline: ContinuousClock.Instant
    ) throws(TenonError) {
        let url = try HTTPURL(parsing: request.url)
        let isLocal = url.isLoopback || options.unixSocket != nil
        guard url.isSecure || isLocal else {
            throw TenonError(.httpURL, message: "http works only for this machine itself. Use https.")
        }
        guard ["GET", "POST", "PUT", "PATCH", "DELETE"].contains(request.method) else {
            throw TenonError(.httpMethod, message: "The method must be GET, POST, PUT, PATCH or DELETE.")
        }
        method = request.method
        self.url = request.url
        isPlain = !url.isSecure
        headers = try request.headerLines()
        body = request.body
        proxy = isLocal ? nil : options.proxy
        self.options = options
        self.deadline = deadline
    }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    func cancel() { cancelled.store(true, ordering: .releasing) }

    /// Whether the caller's deadline has passed.
    var isLate: Bool { ContinuousClock.now >= deadline }
}

extension HTTPRequest {
    /// The headers that the transport itself decides.
    private static let reserved: Set<String> = [
        "connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization", "proxy-connection", "te",
        "trailer", "transfer-encoding", "upgrade",
    ]

    /// The headers as libcurl takes them. A byte that could begin another line is refused.
    ///
    /// - Throws: ``TenonError/Code/httpHeader``. The message holds no header's value, which may be a secret.
    func headerLines() throws(TenonError) -> [String] {
        var lines: [String] = []
        var hasType = false
        for (name, value) in headers {
            let lower = name.lowercased()
            guard !name.isEmpty, name.utf8.allSatisfy(HTTPHead.isToken), value.utf8.allSatisfy({ 0x20...0x7e ~= $0 })
            else { throw TenonError(.httpHeader, message: "A header has a byte that is not allowed. Correct it.") }
            guard !Self.reserved.contains(lower) else {
                throw TenonError(.httpHeader, message: "The transport writes \(lower) itself. Leave it out.")
            }
            hasType = hasType || lower == "content-type"
            // libcurl leaves out a header without a value unless it ends in a semicolon.
            lines.append(value.utf8.allSatisfy { $0 == 0x20 } ? "\(name);" : "\(name): \(value)")
        }
        // libcurl would declare the body to be a form.
        return hasType ? lines : lines + ["Content-Type:"]
    }
}
