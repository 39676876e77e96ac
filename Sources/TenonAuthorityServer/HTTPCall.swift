// SPDX-License-Identifier: Apache-2.0
internal import CTenonHTTPD
internal import TenonAuthority

/// One request that waits for its answer, which is given once.
final class HTTPCall: Sendable {
    private nonisolated(unsafe) let call: OpaquePointer

    init(_ call: OpaquePointer) { self.call = call }

    /// Who is at the other end of the connection.
    var peer: HTTPPeer {
        var peer = tenoni_httpd_peer()
        tenoni_httpd_peer_of(call, &peer)
        let address = withUnsafeBytes(of: peer.address) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return HTTPPeer(address: address, user: peer.user < 0 ? nil : UInt32(truncatingIfNeeded: peer.user))
    }

    /// What was asked, copied.
    var request: AuthorityRequest {
        var count = 0
        let body = UnsafeBufferPointer(start: tenoni_httpd_body(call, &count), count: count)
        var request = AuthorityRequest(
            method: String(cString: tenoni_httpd_method(call)), target: String(cString: tenoni_httpd_target(call)),
            body: Array(body))
        withUnsafeMutablePointer(to: &request) { request in
            tenoni_httpd_headers(call, request) { request, name, nameCount, value, valueCount in
                request?.assumingMemoryBound(to: AuthorityRequest.self).pointee.headers.append(
                    (HTTPCall.text(name, nameCount), HTTPCall.value(value, valueCount)))
            }
        }
        return request
    }

    /// Any thread may answer; the call is over then.
    func answer(_ answer: AuthorityAnswer) {
        answer.body.withUnsafeBufferPointer { tenoni_httpd_set_body(call, $0.baseAddress, $0.count) }
        for (name, value) in answer.headers { tenoni_httpd_add_header(call, name, value) }
        tenoni_httpd_answer(call, UInt32(answer.status))
    }

    /// Without the white space behind it (RFC 9110, 5.5), which libmicrohttpd leaves there.
    private static func value(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> String {
        let bytes = UnsafeRawBufferPointer(start: bytes, count: count)
        let end = bytes.lastIndex { $0 != 0x20 && $0 != 0x09 }
        return String(decoding: bytes[..<(end.map { $0 + 1 } ?? 0)], as: UTF8.self)
    }

    private static func text(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
}

/// Who is at the other end of a connection.
struct HTTPPeer: Equatable, Sendable {
    /// An IP address; "" on a unix socket.
    var address: String
    /// On a unix socket the user, as the kernel says.
    var user: UInt32?
}
