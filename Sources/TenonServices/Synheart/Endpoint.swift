// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// What the auth service is asked (docs/synheart.md), and `self` (decision: own-endpoints).
enum Endpoint: String, CaseIterable {
    case challenge
    case register
    case rotateKey = "rotate-key"
    case own = "self"

    var method: String { self == .own ? "GET" : "POST" }

    /// The path that is sent, and signed.
    func path(at service: ServiceURL) -> String { "\(service.path)/v1/device/\(rawValue)" }

    /// The request, with the headers of its signature where it is signed.
    func request(
        at service: ServiceURL, _ body: [UInt8] = [], signed: [(name: String, value: String)] = []
    ) -> HTTPRequest {
        var headers = [(name: "Accept", value: "application/json")] + DevMode.headers + signed
        if method != "GET" { headers.append(("Content-Type", "application/json")) }
        return HTTPRequest(method: method, url: service.origin + path(at: service), headers: headers, body: body)
    }
}

extension RequestHeaders {
    /// The six headers of a signed request (docs/synheart.md).
    var lines: [(name: String, value: String)] {
        [
            ("X-App-ID", appID), ("X-Device-ID", deviceID), ("X-Synheart-Signature", signature),
            ("X-Synheart-Timestamp", timestamp), ("X-Synheart-Nonce", nonce),
            ("X-Synheart-Sig-Version", signatureVersion),
        ]
    }
}
