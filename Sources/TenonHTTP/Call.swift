// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tenon

/// One exchange that was asked for, checked: what libcurl is told, and whether anybody still waits for it.
final class Call: Sendable {
    let method: String
    let url: String
    let isPlain: Bool
    /// `Name: value`, or `Name:` for one that libcurl shall not send.
    let headers: [String]
    let body: [UInt8]
    /// nil for this machine.
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
            throw TenonError(.httpURL, message: "Only https leaves this machine; http is for loopback: use https.")
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

    /// Whether the caller's time is over.
    var isLate: Bool { ContinuousClock.now >= deadline }
}
