// SPDX-License-Identifier: Apache-2.0
internal import Tenon

extension HTTPRequest {
    /// What libcurl or the way the connection is used decides.
    private static let reserved: Set<String> = [
        "connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization", "proxy-connection", "te",
        "trailer", "transfer-encoding", "upgrade",
    ]

    /// The headers as libcurl takes them: whatever could begin another line is refused before it sees them.
    ///
    /// - Throws: ``TenonError/Code/httpHeader``. What is in a header is in no message: it may be a secret.
    func headerLines() throws(TenonError) -> [String] {
        var lines: [String] = []
        var hasType = false
        for (name, value) in headers {
            let lower = name.lowercased()
            guard !name.isEmpty, name.utf8.allSatisfy(HTTPHead.isToken), value.utf8.allSatisfy({ 0x20...0x7e ~= $0 })
            else { throw TenonError(.httpHeader, message: "A header has bytes that may not be in one; correct it.") }
            guard !Self.reserved.contains(lower) else {
                throw TenonError(.httpHeader, message: "The transport itself writes \(lower); leave it out.")
            }
            hasType = hasType || lower == "content-type"
            // A name alone would be a header that libcurl leaves out.
            lines.append(value.utf8.allSatisfy { $0 == 0x20 } ? "\(name);" : "\(name): \(value)")
        }
        // libcurl would call a body a form.
        return hasType ? lines : lines + ["Content-Type:"]
    }
}
